import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'

/** Parses a YAML or JSON file. A syntax error names the file. */
export function readYamlFile(file: string): unknown {
  const document = parseDocument(readFileSync(file, 'utf8'))
  const [broken] = document.errors
  if (broken) throw new Error(`${file}: ${broken.message}`)
  return document.toJS()
}
