import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { openAsCode } from '../support/as-code.ts'

const guide = readFileSync(new URL('../../docs/guide/as-code.md', import.meta.url), 'utf8')
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block)

it('the files and commands of the guide work as it says', async () => {
  await using scene = await openAsCode()
  const statuses = async (block: string): Promise<number[]> => {
    const results: number[] = []
    for (const line of block.trim().split('\n')) {
      const [, variable = '', value = '', command = ''] = /^(?:(\w+)=(\S+) )?gatehouse (.+)$/.exec(line) ?? []
      if (variable !== '') scene.env[variable] = value
      const args = command.split(' ').map((word) => (/^(config|new-keys)/.test(word) ? join(scene.path, word) : word))
      const { status, errors } = await scene.run(...args)
      assert.notEqual(status, 1, `${line}\n${errors}`)
      results.push(status)
    }
    return results
  }
  const [start = '', planAndApply = ''] = blocks('sh')
  assert.deepEqual(await statuses(start), [0, 0])
  for (const block of blocks('yaml')) {
    const [, file] = /^# (config\/\S+)/.exec(block) ?? []
    if (file === undefined) continue
    mkdirSync(dirname(join(scene.path, file)), { recursive: true })
    // A server name is resolved when a sink is created, and tests use this machine only.
    writeFileSync(join(scene.path, file), block.replace('https://splunk.example.com:8088', 'http://127.0.0.1:9'))
  }
  assert.deepEqual(await statuses(planAndApply), [2, 0, 0])
})
