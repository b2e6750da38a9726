import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { createResponseSpool } from '../../adapters/stores/sql/response-spool.ts'
import { readConfig } from '../../config/config.ts'
import { checkSpools } from '../diagnostics/spools.ts'
import { takeOverSpools } from './leftover-spools.ts'

const responseOf = (id: string) => ({
  id,
  organizationId: 'org',
  projectId: 'proj',
  previousId: null,
  input: [],
  document: {},
  createdAtMs: 1,
  expiresAtMs: 2,
})

/** A data folder in which each of these folders has one response with the name of the folder as its id. */
async function folderWith(...names: readonly string[]) {
  const folder = await temporaryFolder()
  for (const name of names) {
    await using spool = createResponseSpool(join(folder.path, name, 'response-spool'))
    await spool.append([responseOf(name)])
  }
  return folder
}

async function idsIn(dataDir: string, name: string): Promise<string[]> {
  await using spool = createResponseSpool(join(dataDir, name, 'response-spool'))
  return (await spool.count()) === 0 ? [] : (await spool.read(10)).map(({ id }) => id)
}

describe('the spool of a process that is no longer started', () => {
  it('is taken over by the first worker if there are fewer workers, or workers instead of one process', async () => {
    await using folder = await folderWith('.', 'worker-1', 'worker-2', 'worker-3', 'worker-4')
    assert.equal(await takeOverSpools(folder.path, { number: 2, count: 2 }), 0)
    assert.equal(await takeOverSpools(folder.path, { number: 1, count: 2 }), 3)
    assert.deepEqual(new Set(await idsIn(folder.path, 'worker-1')), new Set(['.', 'worker-1', 'worker-3', 'worker-4']))
    assert.deepEqual(await idsIn(folder.path, 'worker-2'), ['worker-2'])
    assert.equal(await takeOverSpools(folder.path, { number: 1, count: 2 }), 0)
  })

  it('is taken over by the single process if the workers are gone', async () => {
    await using folder = await folderWith('worker-1', 'worker-2', 'worker-old')
    assert.equal(await takeOverSpools(folder.path, undefined), 2)
    assert.deepEqual(new Set(await idsIn(folder.path, '.')), new Set(['worker-1', 'worker-2']))
    assert.deepEqual(await idsIn(folder.path, 'worker-old'), ['worker-old'])
  })

  it('is listed by the doctor, with what writes it', async () => {
    await using folder = await folderWith('.', 'worker-3')
    const found = await checkSpools(
      readConfig({ DATABASE_URL: 'postgres://127.0.0.1/x', GATEHOUSE_DATA_DIR: folder.path }),
    )
    assert.deepEqual(
      found.map(({ state, fix }) => [state, fix]),
      [
        ['warning', `A running node writes them once PostgreSQL answers. Keep ${folder.path} until then.`],
        ['warning', `The next start of the server takes them over. Keep ${join(folder.path, 'worker-3')} until then.`],
      ],
    )
  })
})
