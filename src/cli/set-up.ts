import { open, rm, type FileHandle } from 'node:fs/promises'
import type { Operations, SetupAnswer } from '../app/operations/operations.ts'
import { messageOf } from '../base/fault.ts'

export type SetupWish = { readonly name: string; readonly keysFile: string | undefined }

/** What was made, and the file that has its keys: a log that is shared must not have them. */
export type SetUp = { readonly made: SetupAnswer; readonly keysFile: string | undefined }

/** Makes the first organization, and writes its keys to the file where one is named. Refused where there is one already. */
export async function setUp(operations: Operations, { name, keysFile }: SetupWish): Promise<SetUp> {
  if (keysFile === undefined || (await operations['orgs.list']({})).length > 0) {
    return { made: await operations.setup({ name }), keysFile: undefined }
  }
  // Opened first: keys that cannot be written afterwards would be lost.
  const file = await openNew(keysFile)
  try {
    const made = await operations.setup({ name })
    await file.writeFile(`${JSON.stringify(made, null, 2)}\n`).catch(keysLost)
    return { made, keysFile }
  } catch (error) {
    await rm(keysFile, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

const keysLost = (error: unknown): never => {
  const problem = `The organization was made, but its keys could not be written: ${messageOf(error)}.`
  throw new Error(`${problem} Make others with: gatehouse keys create, with and without --admin.`, { cause: error })
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    const problem = isThere
      ? 'exists already, and is not overwritten. Move it away, or name another file.'
      : `cannot be written: ${messageOf(error)}`
    throw new Error(`setup.keys_file: ${path} ${problem}`, { cause: error })
  }
}

/** For scripts: without the keys where a file has them. */
export function setupAnswer({ made, keysFile }: SetUp): object {
  if (keysFile === undefined) return made
  return { organization_id: made.organization_id, project_id: made.project_id, keys_file: keysFile }
}

/** For eyes. */
export function setupText({ made, keysFile }: SetUp): string {
  const isShown = keysFile === undefined
  return [
    `organization       ${made.organization_id}`,
    `project            ${made.project_id}`,
    `administrator key  ${isShown ? made.admin_key : `admin_key in ${keysFile}`}`,
    '                   may do everything in this organization (*)',
    `API key            ${isShown ? made.api_key : `api_key in ${keysFile}`}`,
    '                   may call models, read and change the policy gateway, and manage export sinks',
    '                   (gateway:read, gateway:write, exports:read, exports:write)',
    '',
    isShown ? 'Keep the two keys: they are shown this once.' : 'Only the owner of the file may read the two keys.',
    'Keys for applications, which only call models: gatehouse keys create',
  ].join('\n')
}
