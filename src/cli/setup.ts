import { openOperations } from '../app/open.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'

export const setup: Command = {
  summary: 'Make the first organization, project and keys',
  usage: `gatehouse setup [--name NAME] [--json]

  --name NAME  what the organization is called
  --json       print { organization_id, project_id, admin_key, api_key }

Refused where an organization exists already. The secrets are shown this once.`,
  async run({ args, config, say }) {
    const { values } = readArguments(args, { name: { type: 'string' }, json: { type: 'boolean' } })
    await using house = await openOperations(config())
    const made = await house.operations.setup({ name: values.name ?? 'My organization' })
    if (values.json) say(JSON.stringify(made, null, 2))
    else say(setupText(made))
    return 0
  },
}

export function setupText(made: {
  admin_key: string
  api_key: string
  organization_id: string
  project_id: string
}): string {
  return [
    `organization       ${made.organization_id}`,
    `project            ${made.project_id}`,
    `administrator key  ${made.admin_key}`,
    `API key            ${made.api_key}`,
    '',
    'Keep the two keys: they are shown this once.',
  ].join('\n')
}
