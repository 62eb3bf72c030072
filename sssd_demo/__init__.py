"""An interactive demo of lossless speculative decoding on a real model."""
