/** Two names with the same folded form count as the same name: case, width and outer spaces do not matter. */
export const foldName = (name: string): string => foldCase(name).trim()

/** Whether a name contains the text, in any case. */
export function createNameSearch(text: string | undefined): ((name: string) => boolean) | undefined {
  if (text === undefined) return undefined
  const wanted = foldName(text)
  return (name) => foldCase(name).includes(wanted)
}

/** Through upper case, because `ß` and `SS` differ in lower case only. A final sigma has a lower case of its own. */
const foldCase = (text: string): string =>
  text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replaceAll('ς', 'σ')
