"""What comes from elsewhere and goes there: sessions as files that other programs read, calls that others recorded."""
