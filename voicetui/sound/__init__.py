"""Sound devices and files, tracks of samples, rates, WAV."""
