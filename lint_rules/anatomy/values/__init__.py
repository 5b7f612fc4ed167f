"""What each value of a file is: places that hold values, what is known of them, how it flows."""
