from .comparison import SetComparison as SetComparison
from .comparison import SetComparisons as SetComparisons
from .comparison import compare_sets as compare_sets
from .patterns import SetPattern as SetPattern
