"""The screens: live, presenter, help, choosing."""
