import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { isConfiguration, valueAt, type Configuration } from '../../domain/audit/export/configuration.ts'
import type { ConfigProblem, Sink, SinkAddress, SinkKind, SinkType } from '../../domain/audit/export/sink.ts'
import type { SendRequest } from '../network/request.ts'
import { urlProblems } from './fields.ts'
import { problemsIn } from './schema-problems.ts'
import type { AwsCredentials } from './sigv4.ts'

/** The dependencies of every sink. */
export type SinkParts = {
  readonly request: SendRequest
  readonly clock: Clock
  readonly random: Random
  /** The gateway's name, for destinations that store a host with each event. */
  readonly instance: string
  /** The operator's own AWS identity, which assumes tenants' roles. Without it, `assume_role` is not available. */
  readonly awsCredentials?: AwsCredentials | undefined
}

/** A field with an address that the tenant chooses. */
type AddressField = {
  readonly path: string
  readonly allowPath?: boolean
  /** Decodes a field that holds the address in another form than a URL. */
  readonly decode?: (value: string) => string | undefined
}

type Definition<Schema extends TSchema> = {
  readonly type: SinkType
  readonly schema: Schema
  readonly secretFields: readonly string[]
  readonly destinationFields: readonly string[]
  /** Every field whose address is chosen by the tenant. Empty if the vendor's addresses are fixed. */
  readonly addressFields: readonly AddressField[]
  readonly completed?: SinkKind<SinkParts>['completed']
  /** Checks that a schema cannot express. */
  readonly check?: (config: Static<Schema>) => readonly ConfigProblem[]
  /** Messages for unknown fields that people try to use. */
  readonly hints?: Readonly<Record<string, string>>
  readonly create: (config: Static<Schema>, parts: SinkParts) => Sink
}

/** Builds a kind of sink from its schema and its `create` function. The type of its configuration stays internal. */
export function defineSink<Schema extends TSchema>(definition: Definition<Schema>): SinkKind<SinkParts> {
  const { type, schema, secretFields, destinationFields, addressFields, hints = {}, create } = definition
  const check = (config: Static<Schema>): readonly ConfigProblem[] => [
    ...addressFields.flatMap((field) => (field.decode ? [] : urlProblems(textAt(config, field.path), field))),
    ...(definition.check?.(config) ?? []),
  ]
  return {
    type,
    schema,
    secretFields,
    destinationFields,
    addressesIn: (config) => addressFields.flatMap((field) => addressAt(config, field)),
    ...(definition.completed && { completed: definition.completed }),
    problemsOf: (config) =>
      Value.Check(schema, config) ? check(config) : problemsIn(Value.Errors(schema, config), { noun: 'sink', hints }),
    open(config, parts) {
      if (!Value.Check(schema, config) || check(config).length > 0)
        throw new TypeError(`This is not a valid configuration of a ${type} sink.`)
      return create(config, parts)
    },
  }
}

function addressAt(config: Configuration, { path, decode = (value) => value }: AddressField): SinkAddress[] {
  const text = textAt(config, path)
  const url = text === undefined ? null : URL.parse(decode(text) ?? '')
  return url ? [{ path, url }] : []
}

function textAt(config: unknown, path: string): string | undefined {
  const value = isConfiguration(config) ? valueAt(config, path) : undefined
  return typeof value === 'string' ? value : undefined
}
