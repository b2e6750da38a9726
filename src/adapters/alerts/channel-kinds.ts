import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { ChannelKind, ChannelKindName } from '../../domain/alerts/channel.ts'
import { isConfiguration, valueAt } from '../../domain/audit/export/configuration.ts'
import type { ConfigProblem } from '../../domain/audit/export/sink.ts'
import { caField, caProblems, masked, strict, urlField, urlProblems } from '../sinks/fields.ts'
import { patternOf } from '../sinks/patterns.ts'
import { problemsIn } from '../sinks/schema-problems.ts'
import { signingSecret } from '../sinks/webhook-signature.ts'

export const WebhookChannelConfig = Type.Object(
  {
    url: urlField('Address to which alerts are posted; may have a path.', 'https://alerts.example.com/gatehouse'),
    secret: signingSecret,
    tls_ca_pem: Type.Optional(caField),
  },
  { ...strict, title: 'WebhookChannelConfig', description: 'Any receiver of Standard Webhooks: signed JSON.' },
)

export const SlackChannelConfig = Type.Object(
  {
    url: urlField(
      `Address of the incoming webhook, which is its only credential. ${masked}`,
      'https://hooks.slack.com/services/T000/B000/xxxxxxxxxxxxxxxxxxxxxxxx',
    ),
  },
  {
    ...strict,
    title: 'SlackChannelConfig',
    description: 'A channel of Slack, or of a service that takes the same messages, such as Mattermost.',
  },
)

/** As mail servers take it: no quotation marks, no comments, no second address. */
const address = Type.String({
  maxLength: 254,
  pattern: patternOf(
    "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$",
    'must be an email address, such as oncall@example.com',
  ),
  examples: ['oncall@example.com'],
})

export const EmailChannelConfig = Type.Object(
  { to: Type.Array(address, { minItems: 1, maxItems: 20, description: 'The addresses that get the mail.' }) },
  { ...strict, title: 'EmailChannelConfig', description: 'Mail by the server of `mail.smtp_url`.' },
)

/** What the installation allows mail for. `smtp_url` is undefined if it has no mail server. */
export type MailRules = { readonly smtp_url?: string | undefined; readonly allow_domains: readonly string[] }

/** Every kind of channel. */
export function createChannelKinds(mail: MailRules): readonly ChannelKind[] {
  return [
    defineChannel('webhook', {
      schema: WebhookChannelConfig,
      secretFields: ['secret'],
      destinationFields: ['url'],
      check: ({ url, tls_ca_pem: pem }) => [...urlProblems(url, { path: 'url', allowPath: true }), ...caProblems(pem)],
    }),
    defineChannel('slack', {
      schema: SlackChannelConfig,
      secretFields: ['url'],
      destinationFields: [],
      check: ({ url }) => urlProblems(url, { path: 'url', allowPath: true }),
    }),
    defineChannel('email', {
      schema: EmailChannelConfig,
      secretFields: [],
      destinationFields: [],
      check: ({ to }) => mailProblems(to, mail),
    }),
  ]
}

type Definition<Schema extends TSchema> = Pick<ChannelKind, 'secretFields' | 'destinationFields'> & {
  readonly schema: Schema
  readonly check: (config: Static<Schema>) => readonly ConfigProblem[]
}

const defineChannel = <Schema extends TSchema>(
  kind: ChannelKindName,
  { schema, secretFields, destinationFields, check }: Definition<Schema>,
): ChannelKind => ({
  kind,
  schema,
  secretFields,
  destinationFields,
  addressesIn(config) {
    const text = isConfiguration(config) ? valueAt(config, 'url') : undefined
    const url = typeof text === 'string' ? URL.parse(text) : null
    return url ? [{ path: 'url', url }] : []
  },
  problemsOf: (config) =>
    Value.Check(schema, config) ? check(config) : problemsIn(Value.Errors(schema, config), { noun: 'channel' }),
})

function mailProblems(to: readonly string[], { smtp_url: url, allow_domains: domains }: MailRules): ConfigProblem[] {
  if (url === undefined)
    return [
      { path: '', message: 'this installation sends no mail. Ask the operator to set mail.smtp_url and mail.from' },
    ]
  if (domains.length === 0) return []
  const isAllowed = (each: string): boolean => domains.includes(each.slice(each.lastIndexOf('@') + 1).toLowerCase())
  return to.flatMap((each, at) =>
    isAllowed(each)
      ? []
      : [{ path: `to[${at}]`, message: `must be an address at ${domains.join(' or ')} (mail.allow_domains)` }],
  )
}
