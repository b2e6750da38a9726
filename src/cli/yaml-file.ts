import { parseDocument } from 'yaml'
import { readRegularFile } from '../base/regular-file.ts'

/** Parses a YAML or JSON file. A syntax error names the file. */
export function readYamlFile(file: string): unknown {
  const document = parseDocument(readRegularFile(file))
  const [broken] = document.errors
  if (broken) throw new Error(`${file}: ${broken.message}`)
  return document.toJS()
}
