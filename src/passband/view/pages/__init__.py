"""The pages of the viewer: values in, HTML out."""
