from .picture import draw as draw
