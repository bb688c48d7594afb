"""What leaves the program, and comes from elsewhere: sessions as files for people and other programs, calls that others
recorded.
"""
