import { isRecord } from '../../base/record.ts'
import { readYamlFile } from '../yaml-file.ts'

/** One policy as somebody wants it to be. What is left out has its default. */
export type Wanted = {
  /** Which policy is meant, where its name is about to change or is not its own alone. */
  readonly id?: string
  readonly name: string
  /** False leaves the draft unpublished. */
  readonly publish: boolean
  /** The body of its creation. */
  readonly policy: Readonly<Record<string, unknown>>
}

/** Reads `policies.yaml`: a list under `policies`, each entry in the words of the API. */
export function readPolicyFile(file: string): Wanted[] {
  const whole = readYamlFile(file)
  const entries = isRecord(whole) ? whole['policies'] : undefined
  if (!Array.isArray(entries)) throw new Error(`${file}: there must be a list of policies under the key policies.`)
  const wanted = entries.map((entry: unknown, at) => wantedOf(entry, `${file}: policies[${at}]`))
  const twice = wanted.find(({ name }, at) => wanted.findIndex((each) => each.name === name) !== at)
  if (twice) throw new Error(`${file}: the policy ${twice.name} is there twice.`)
  return wanted
}

function wantedOf(entry: unknown, place: string): Wanted {
  if (!isRecord(entry)) throw new Error(`${place} must be a policy with a name and a rule.`)
  const { id, publish = true, ...policy } = entry
  const { name } = policy
  if (typeof name !== 'string') throw new Error(`${place} needs a name.`)
  if (id !== undefined && typeof id !== 'string') throw new Error(`${place}: id must be a text.`)
  if (typeof publish !== 'boolean') throw new Error(`${place}: publish must be true or false.`)
  return { name, publish, policy, ...(id !== undefined && { id }) }
}
