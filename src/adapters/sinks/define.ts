import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { ConfigProblem, Sink, SinkKind, SinkType } from '../../domain/audit/export/sink.ts'
import type { SendRequest } from '../network/request.ts'
import type { AwsCredentials } from './sigv4.ts'
import { problemsIn } from './problems.ts'

/** What every sink is built from. */
export type SinkParts = {
  readonly request: SendRequest
  readonly clock: Clock
  readonly random: Random
  /** This gateway's name in events that carry a host. */
  readonly instance: string
  /** The operator's own identity at AWS, which assumes tenants' roles; without it `assume_role` cannot be used. */
  readonly awsCredentials?: AwsCredentials | undefined
}

type Definition<Schema extends TSchema> = {
  readonly type: SinkType
  readonly schema: Schema
  readonly secretFields: readonly string[]
  readonly destinationFields: readonly string[]
  readonly completed?: SinkKind<SinkParts>['completed']
  /** What a schema cannot say. */
  readonly check?: (config: Static<Schema>) => readonly ConfigProblem[]
  /** Words for fields that do not exist and that people try. */
  readonly hints?: Readonly<Record<string, string>>
  readonly create: (config: Static<Schema>, parts: SinkParts) => Sink
}

/** A kind of sink from its schema and its one function; the type of its configuration stays inside. */
export function defineSink<Schema extends TSchema>(definition: Definition<Schema>): SinkKind<SinkParts> {
  const { type, schema, secretFields, destinationFields, check = () => [], hints = {}, create } = definition
  return {
    type,
    schema,
    secretFields,
    destinationFields,
    ...(definition.completed && { completed: definition.completed }),
    problemsOf: (config) =>
      Value.Check(schema, config) ? check(config) : problemsIn(Value.Errors(schema, config), hints),
    open(config, parts) {
      if (!Value.Check(schema, config) || check(config).length > 0)
        throw new TypeError(`This configures no ${type} sink.`)
      return create(config, parts)
    },
  }
}
