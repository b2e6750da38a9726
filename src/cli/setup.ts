import type { SetupAnswer } from '../app/operations/operations.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { inHouse } from './in-house.ts'

export const setup: Command = {
  summary: 'Make the first organization, project and keys',
  usage: `gatehouse setup [--name NAME] [--json]

  --name NAME  what the organization is called
  --json       print { organization_id, project_id, admin_key, api_key }

Refused where an organization exists already. The secrets are shown this once.`,
  async run(context) {
    const { values } = readArguments(context.args, { name: { type: 'string' }, json: { type: 'boolean' } })
    return inHouse(context, values, async ({ operations }) => {
      const answer = await operations.setup({ name: values.name ?? 'My organization' })
      return { answer, text: setupText(answer) }
    })
  },
}

export function setupText(made: SetupAnswer): string {
  return [
    `organization       ${made.organization_id}`,
    `project            ${made.project_id}`,
    `administrator key  ${made.admin_key}`,
    '                   may do everything in this organization (*)',
    `API key            ${made.api_key}`,
    '                   may call models, read and change the policy gateway, and manage export sinks',
    '                   (gateway:read, gateway:write, exports:read, exports:write)',
    '',
    'Keep the two keys: they are shown this once. Keys for applications, which only call models: gatehouse keys create',
  ].join('\n')
}
