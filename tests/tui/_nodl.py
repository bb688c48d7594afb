import sys,runpy
from voicetui.tui import leaving
leaving.Deadline._wait=lambda self,s: None
sys.argv=sys.argv
runpy.run_module('tests.tui.on_terminal',run_name='__main__')
