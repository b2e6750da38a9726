import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { runOnServer } from './run-command.ts'
import { setUp, setupAnswer, setupText } from './set-up.ts'

export const setup: Command = {
  summary: 'Create the first organization, project and keys',
  usage: `gatehouse setup [--name NAME] [--json]

  --name NAME  the name of the organization
  --json       print { organization_id, project_id, admin_key, api_key }

Fails if an organization exists already. The keys are shown only once; with setup.keys_file or GATEHOUSE_KEYS_FILE they are
written to that file instead, and --json prints its path as keys_file.`,
  async run(context) {
    const { values } = readArguments(context.args, { name: { type: 'string' }, json: { type: 'boolean' } })
    return runOnServer(context, values, async ({ client }) => {
      const keysFile = context.config().setup.keys_file
      const done = await setUp(client, { name: values.name ?? 'My organization', keysFile })
      return { answer: setupAnswer(done), text: setupText(done) }
    })
  },
}
