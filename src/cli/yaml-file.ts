import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'

/** What a file of YAML or JSON says; what is broken in it is told with the name of the file. */
export function readYamlFile(file: string): unknown {
  const document = parseDocument(readFileSync(file, 'utf8'))
  const [broken] = document.errors
  if (broken) throw new Error(`${file}: ${broken.message}`)
  return document.toJS()
}
