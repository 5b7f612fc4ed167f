"""Messages and the histories they are in: what each holds, where one is stored, copied or made anew."""
