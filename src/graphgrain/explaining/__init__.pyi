from .comparison import Comparison as Comparison
from .comparison import SharedPattern as SharedPattern
from .comparison import compare as compare
from .explainer import explain as explain
from .explanation import Explanation as Explanation
from .explanation import Pattern as Pattern
from .fragments import Fragment as Fragment
