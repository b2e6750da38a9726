import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readMigrations } from './migrate.ts'

describe('the migrations of a folder', () => {
  it('are sorted by number, with a checksum', async () => {
    const [first, second] = await readFolder({ '0002_b.sql': 'two', '0001_a.sql': 'one', 'README.md': 'not one' })
    assert.deepEqual([first?.number, first?.name, first?.sql], [1, 'a', 'one'])
    assert.deepEqual([second?.number, second?.name, second?.sql], [2, 'b', 'two'])
    assert.equal(first?.checksum, '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed')
  })

  it('have the same checksum for all line endings', async () => {
    const [unix] = await readFolder({ '0001_a.sql': 'one\ntwo\n' })
    const [windows] = await readFolder({ '0001_a.sql': 'one\r\ntwo\r\n' })
    assert.equal(windows?.checksum, unix?.checksum)
  })

  it('are rejected with a gap, a duplicate number, or a name without a number', async () => {
    await assert.rejects(readFolder({ '0001_a.sql': '', '0003_c.sql': '' }), /expected migration 2, found 3 \(c\)/)
    await assert.rejects(readFolder({ '0001_a.sql': '', '0001_b.sql': '' }), /expected migration 2, found 1 \(b\)/)
    await assert.rejects(
      readFolder({ 'first.sql': '' }),
      /first\.sql: a migration is named like 0001_first_tables\.sql/,
    )
  })
})

async function readFolder(files: Readonly<Record<string, string>>) {
  const dir = await mkdtemp(join(tmpdir(), 'gatehouse-migrations-'))
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
    return await readMigrations(dir)
  } finally {
    await rm(dir, { recursive: true })
  }
}
