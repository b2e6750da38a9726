/** Options of Node: the program takes its standard output for a terminal, so that it prints for people. */
export const asTerminal = ['--import', 'data:text/javascript,process.stdout.isTTY=true'] as const
