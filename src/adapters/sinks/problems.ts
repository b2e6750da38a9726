import type { TLocalizedValidationError } from 'typebox/error'
import type { ConfigProblem } from '../../domain/audit/export/sink.ts'

type SchemaError = TLocalizedValidationError

/** What a schema found, in words for the person who typed the configuration. */
export function problemsIn(
  errors: readonly SchemaError[],
  hints: Readonly<Record<string, string>>,
): readonly ConfigProblem[] {
  const wrongBranches = errors.filter(({ keyword }) => keyword === 'const').map(branchOf)
  const relevant = errors.filter((error) => !wrongBranches.includes(branchOf(error)))
  const problems = relevant.flatMap((error) => problemsOf(error, hints))
  if (problems.length > 0) return problems
  // Every branch of a choice was the wrong one: its `type` names none of them.
  const choice = errors.find(({ keyword }) => keyword === 'const')
  return [{ path: pathOf(choice?.instancePath ?? ''), message: 'is not one of the known kinds' }]
}

/** Which alternative of which choice an error belongs to; empty for what belongs to none. */
const branchOf = ({ schemaPath, keyword }: SchemaError): string =>
  /^.*\/anyOf\/\d+/.exec(schemaPath)?.[0] ?? (keyword === 'const' ? schemaPath : '')

function problemsOf(error: SchemaError, hints: Readonly<Record<string, string>>): ConfigProblem[] {
  const path = pathOf(error.instancePath)
  switch (error.keyword) {
    case 'boolean':
      return [{ path, message: hints[path] ?? 'is not a field of this kind of sink' }]
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        path: path ? `${path}.${name}` : name,
        message: 'is required',
      }))
    case 'enum':
      return [{ path, message: `must be one of ${error.params.allowedValues.join(', ')}` }]
    case 'additionalProperties': // said for each field by `boolean`
    case 'anyOf': // said by the errors inside
      return []
    default:
      return [{ path, message: error.message }]
  }
}

/** `/tags/3` as its owner writes it: `tags[3]`. */
const pathOf = (pointer: string): string =>
  pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
