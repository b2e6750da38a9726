import type { Plan } from './plan.ts'
import type { ActivePolicy } from './rulebook.ts'

type Facts = Plan['facts']

/** The variables that the expression of a policy reads, with their values. */
export function variablesOf(
  policy: ActivePolicy | undefined,
  facts: Facts,
): readonly { readonly name: string; readonly text: string }[] {
  if (policy?.rule.evaluator !== 'expression') return []
  return policy.rule.names.flatMap(({ kind, name }) => {
    const text = kind === 'variable' ? valueOf(name, facts) : undefined
    return text === undefined ? [] : { name, text }
  })
}

function valueOf(name: string, facts: Facts): string | undefined {
  const [variable, key] = name.split('.', 2)
  if (variable === 'metadata') return key === undefined ? undefined : textOf(facts.metadata[key])
  return variable === 'model' || variable === 'project' || variable === 'user' ? facts[variable] : undefined
}

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value)
