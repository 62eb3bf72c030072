"""An interactive demo of lossless speculative decoding: SSSD and Saguaro on a real model."""
