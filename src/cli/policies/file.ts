import { isRecord } from '../../base/record.ts'
import { readYamlFile } from '../yaml-file.ts'

/** One entry of the file. Fields that are left out get their defaults. */
export type PolicyFileEntry = {
  /** Identifies the policy if its name changes or is not unique. */
  readonly id?: string
  readonly name: string
  /** False leaves the draft unpublished. */
  readonly publish: boolean
  /** The request body of the creation. */
  readonly policy: Readonly<Record<string, unknown>>
}

/** Reads `policies.yaml`: a list under `policies`, with the field names of the API. */
export function readPolicyFile(file: string): PolicyFileEntry[] {
  const whole = readYamlFile(file)
  const entries = isRecord(whole) ? whole['policies'] : undefined
  if (!Array.isArray(entries)) throw new Error(`${file}: the key policies must contain a list of policies.`)
  const policies = entries.map((entry: unknown, at) => entryOf(entry, `${file}: policies[${at}]`))
  const twice = policies.find(({ name }, at) => policies.findIndex((each) => each.name === name) !== at)
  if (twice) throw new Error(`${file}: the policy ${twice.name} is listed twice.`)
  return policies
}

function entryOf(entry: unknown, where: string): PolicyFileEntry {
  if (!isRecord(entry)) throw new Error(`${where} must be a policy with a name and a rule.`)
  const { id, publish = true, ...policy } = entry
  const { name } = policy
  if (typeof name !== 'string') throw new Error(`${where} needs a name.`)
  if (id !== undefined && typeof id !== 'string') throw new Error(`${where}: id must be a string.`)
  if (typeof publish !== 'boolean') throw new Error(`${where}: publish must be true or false.`)
  return { name, publish, policy, ...(id !== undefined && { id }) }
}
