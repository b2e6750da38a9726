import { plural } from '../base/plural.ts'
import type { ApiClient } from '../app/client/api-client.ts'
import type { SecretStatusBody } from '../http/operator/secret.ts'
import { readArguments } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { oneLine } from './table.ts'

const options = { force: { type: 'boolean' }, json: { type: 'boolean' } } as const

export const secret: Command = {
  summary: 'Rotate the server secret',
  usage: `gatehouse secret status [--json]
gatehouse secret rotate [--json]
gatehouse secret retire [--force] [--json]

rotate moves everything that depends on the server secret to the new one, and may be run again at any time. If the secret is
in the data folder, rotate creates a new one first; if it is configured, set GATEHOUSE_SECRET and GATEHOUSE_SECRET_PREVIOUS
before. Keys move to the new secret at their next use. status shows what still needs the previous secret. retire removes the
previous secret from the data folder, with --force also while keys need it: those stop working. docs/guide/secrets.md has
the order of steps for several nodes.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const [verb = 'status'] = positionals
    return runOnServer(context, values, async ({ client }) => {
      const response = await perform(verb, values.force ?? false, client)
      return { json: response, text: describe(response) }
    })
  },
}

function perform(verb: string, force: boolean, client: ApiClient): Promise<SecretStatusBody> {
  if (verb === 'status') return client.get('/operator/secret')
  if (verb === 'rotate') return client.post('/operator/secret/rotate')
  if (verb === 'retire') return client.post('/operator/secret/retire', { force })
  throw unknownSubcommand('secret', verb)
}

function describe({ previous_id: previous, next_id: next, lost, ...status }: SecretStatusBody): string {
  const where = status.kept_in === 'data_folder' ? 'kept in the data folder' : 'taken from the configuration'
  return [
    `The server secret is ${status.secret_id}, ${where}.`,
    ...(next === null ? [] : [`The next one, ${next}, is accepted as well.`]),
    ...(previous === null ? [] : previousLines(previous, status)),
    ...(lost.keys > 0 ? [`${plural(lost.keys, 'key')} of a server secret that is not configured: not usable.`] : []),
    ...keyLines(status.lost_keys, lost.keys),
    ...(lost.encrypted_values > 0
      ? [`${plural(lost.encrypted_values, 'encrypted value')} of a server secret that is not configured: not readable.`]
      : []),
  ].join('\n')
}

function previousLines(
  previous: string,
  {
    needs_previous: needs,
    is_previous_needed: isNeeded,
    kept_in: keptIn,
    keys_needing_previous: named,
  }: Omit<SecretStatusBody, 'previous_id' | 'next_id' | 'lost'>,
): string[] {
  const removal =
    keptIn === 'data_folder'
      ? 'gatehouse secret retire removes it.'
      : 'remove GATEHOUSE_SECRET_PREVIOUS from every node.'
  if (!isNeeded) return [`Nothing needs the previous one, ${previous}: ${removal}`]
  const { keys, encrypted_values: values, audit_logs: logs, audit_texts: texts } = needs
  const isMoved = values + logs + texts === 0
  return [
    `The previous one, ${previous}, is still needed by ${plural(keys, 'key')}, ${plural(values, 'encrypted value')} and ${plural(logs, 'audit log')}.`,
    ...keyLines(named, keys),
    isMoved
      ? 'Keys move at their next use.'
      : 'gatehouse secret rotate moves all but the keys, which move at their next use.',
  ]
}

/** The keys that a line before counts. */
const keyLines = (keys: SecretStatusBody['lost_keys'], all: number): string[] => [
  ...keys.map(({ id, name }) => `  ${id}  ${oneLine(name)}`),
  ...(all > keys.length ? [`  and ${all - keys.length} more`] : []),
]
