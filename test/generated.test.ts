import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { generated } from '../scripts/generate.ts'

for (const [file, make] of Object.entries(generated)) {
  test(`${file} is up to date with the code; npm run generate writes it`, () => {
    assert.equal(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'), make())
  })
}
