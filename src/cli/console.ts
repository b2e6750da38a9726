import type { ConsoleLinkBody } from '../http/operator/console-link.ts'
import { readArguments } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'

const options = { key: { type: 'string' }, org: { type: 'string' }, json: { type: 'boolean' } } as const

export const consoleCommand: Command = {
  summary: 'Print a link that signs a browser in to the console',
  usage: `gatehouse console link [--key ID] [--org ID] [--json]

  --key ID  the administrator key that the session acts as; by default the oldest one with all permissions
  --json    print { url, key_id, expires_at }

The link works once, within 15 minutes. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const [verb = ''] = positionals
    if (verb !== 'link') throw unknownSubcommand('console', verb)
    return runOnServer(context, values, async ({ client }) => {
      const body = values.key === undefined ? {} : { key_id: values.key }
      const link = await client.post<ConsoleLinkBody>('/operator/organization/console_links', body)
      return { json: link, text: link.url }
    })
  },
}
