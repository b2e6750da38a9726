import type { TLocalizedValidationError } from 'typebox/error'
import type { ConfigProblem } from '../../domain/audit/export/sink.ts'
import { patternInWords } from './patterns.ts'

type SchemaError = TLocalizedValidationError

/** What the configuration belongs to, and messages for unknown fields that people try to use. */
type Wording = { readonly noun: 'sink' | 'channel'; readonly hints?: Readonly<Record<string, string>> }

/** Schema errors as messages for the person who wrote the configuration. */
export function problemsIn(errors: readonly SchemaError[], wording: Wording): readonly ConfigProblem[] {
  const wrongBranches = errors.filter(({ keyword }) => keyword === 'const').map(branchOf)
  const relevant = errors.filter((error) => !wrongBranches.includes(branchOf(error)))
  const problems = relevant.flatMap((error) => problemsOf(error, wording))
  if (problems.length > 0) return problems
  // No branch of a union matches, because `type` names none of them.
  const choice = errors.find(({ keyword }) => keyword === 'const')
  return [{ path: pathOf(choice?.instancePath ?? ''), message: 'is not one of the known kinds' }]
}

/** The union branch that an error belongs to; empty if none. */
const branchOf = ({ schemaPath, keyword }: SchemaError): string =>
  /^.*\/anyOf\/\d+/.exec(schemaPath)?.[0] ?? (keyword === 'const' ? schemaPath : '')

function problemsOf(error: SchemaError, { noun, hints = {} }: Wording): ConfigProblem[] {
  const path = pathOf(error.instancePath)
  switch (error.keyword) {
    case 'boolean':
      return [{ path, message: hints[path] ?? `is not a field of this kind of ${noun}` }]
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        path: path ? `${path}.${name}` : name,
        message: 'is required',
      }))
    case 'enum':
      return [{ path, message: `must be one of ${error.params.allowedValues.join(', ')}` }]
    case 'pattern':
      return [{ path, message: patternInWords(String(error.params.pattern)) }]
    case 'additionalProperties': // `boolean` reports it for each field
    case 'anyOf': // the errors of the branches report it
      return []
    default:
      return [{ path, message: error.message }]
  }
}

/** A JSON pointer in the notation of messages: `/tags/3` becomes `tags[3]`. */
const pathOf = (pointer: string): string =>
  pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
