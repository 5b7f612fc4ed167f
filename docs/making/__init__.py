"""The pages that are made from what they tell of: rules, settings, the command line."""
