# Public names of this package; __init__.py imports each on first use.
from .attribute_bins import AttributeBins as AttributeBins
from .attribute_scaler import AttributeScaler as AttributeScaler
from .edge_filter import EdgeFilter as EdgeFilter
from .edge_lengths import EdgeLengths as EdgeLengths
from .pharmacophore_labels import PharmacophoreLabels as PharmacophoreLabels
from .structural_labels import StructuralLabels as StructuralLabels
