from .explainer import explain as explain
from .explanation import Explanation as Explanation
from .explanation import Pattern as Pattern
