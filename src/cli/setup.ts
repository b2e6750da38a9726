import { open, rm, type FileHandle } from 'node:fs/promises'
import type { ApiClient } from '../app/client/api-client.ts'
import type { OrganizationBody } from '../http/resources/organization.ts'
import type { SetupBody } from '../http/operator/organizations-schema.ts'
import { messageOf } from '../base/fault.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'

export const setup: Command = {
  summary: 'Create the first organization, project and keys',
  usage: `gatehouse setup [--name NAME] [--json]

  --name NAME  the name of the organization
  --json       print { organization_id, project_id, admin_key, api_key, application_key }

Fails if an organization exists already. The keys are shown only once; with setup.keys_file or GATEHOUSE_KEYS_FILE they are
written to that file instead, and --json prints its path as keys_file.`,
  async run(context) {
    const { values } = readArguments(context.args, { name: { type: 'string' }, json: { type: 'boolean' } })
    return runOnServer(context, { ...values, mayCreate: true }, async ({ client }) => {
      const keysFile = context.config().setup.keys_file
      const done = await setUp(client, { name: values.name ?? 'My organization', keysFile })
      return { json: setupAnswer(done), text: setupText(done) }
    })
  },
}

type SetupInput = { readonly name: string; readonly keysFile: string | undefined }

/** The created objects. With `keysFile`, their keys are only in that file, because the output may go to a shared log. */
export type SetUp = { readonly created: SetupBody; readonly keysFile: string | undefined }

/** Creates the first organization and writes its keys to `keysFile`, if given. Fails if an organization exists already. */
export async function setUp(client: ApiClient, { name, keysFile }: SetupInput): Promise<SetUp> {
  const create = () => client.post<SetupBody>('/operator/setup', { name })
  if (keysFile === undefined || (await hasOrganization(client))) return { created: await create(), keysFile: undefined }
  // The file is opened first, because keys that cannot be written afterwards would be lost.
  const file = await openNew(keysFile)
  try {
    const created = await create()
    await file.writeFile(`${JSON.stringify(created, null, 2)}\n`).catch(keysLost)
    return { created, keysFile }
  } catch (error) {
    await rm(keysFile, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function hasOrganization(client: ApiClient): Promise<boolean> {
  const { data } = await client.list<OrganizationBody>('/operator/organizations', {}, 1)
  return data.length > 0
}

const keysLost = (error: unknown): never => {
  const problem = `The organization was created, but its keys could not be written: ${messageOf(error)}.`
  throw new Error(`${problem} Create others with: gatehouse keys create, with and without --admin.`, { cause: error })
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const problem = exists
      ? 'exists already, and is not overwritten. Move it away, or name another file.'
      : `cannot be written: ${messageOf(error)}`
    throw new Error(`setup.keys_file: ${path} ${problem}`, { cause: error })
  }
}

/** For scripts, without the keys if a file has them. */
function setupAnswer({ created, keysFile }: SetUp): object {
  if (keysFile === undefined) return created
  return { organization_id: created.organization_id, project_id: created.project_id, keys_file: keysFile }
}

/** For people. */
export function setupText({ created, keysFile }: SetUp): string {
  const isShown = keysFile === undefined
  const shown = (name: 'admin_key' | 'api_key' | 'application_key'): string =>
    isShown ? created[name] : `${name} in ${keysFile}`
  return [
    `organization        ${created.organization_id}`,
    `project             ${created.project_id}`,
    `administrator key   ${shown('admin_key')}`,
    '                    may do everything in this organization (*)',
    `policy gateway key  ${shown('api_key')}`,
    '                    not for applications: besides calling models it reads and changes the policy gateway and export sinks',
    '                    (gateway:read, gateway:write, exports:read, exports:write)',
    `application key     ${shown('application_key')}`,
    '                    for applications: only calls models',
    '',
    isShown ? 'Keep the keys: they are not shown again.' : 'Only the owner of the file may read the keys.',
    'A key for each further application: gatehouse keys create',
  ].join('\n')
}
