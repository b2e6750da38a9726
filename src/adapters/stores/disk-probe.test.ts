import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { diskSpaceOf } from './disk-probe.ts'

it('reads the disk of a folder, also of one that does not exist yet', async () => {
  const { freeBytes, diskBytes } = await diskSpaceOf(join(tmpdir(), 'a folder', 'that is missing'))
  assert.ok(freeBytes > 0 && freeBytes < diskBytes)
})
