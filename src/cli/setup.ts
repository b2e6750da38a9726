import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { runOnServer } from './run-command.ts'
import { setUp, setupAnswer, setupText } from './set-up.ts'

export const setup: Command = {
  summary: 'Make the first organization, project and keys',
  usage: `gatehouse setup [--name NAME] [--json]

  --name NAME  what the organization is called
  --json       print { organization_id, project_id, admin_key, api_key }

Refused where an organization exists already. The secrets are shown this once; with setup.keys_file or
GATEHOUSE_KEYS_FILE they are written to that file instead, and --json prints its path as keys_file.`,
  async run(context) {
    const { values } = readArguments(context.args, { name: { type: 'string' }, json: { type: 'boolean' } })
    return runOnServer(context, values, async ({ operations }) => {
      const keysFile = context.config().setup.keys_file
      const done = await setUp(operations, { name: values.name ?? 'My organization', keysFile })
      return { answer: setupAnswer(done), text: setupText(done) }
    })
  },
}
