import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createApp } from '../../src/app.ts'
import { createLog } from '../../src/base/log.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { readConfig } from '../../src/config/config.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

const answer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

describe('secrets from files', () => {
  it('reach the upstream with the current text of the file, without a restart, and reach no log, metric or doctor', async () => {
    await using folder = await temporaryFolder()
    await using upstream = await startUpstream(answerJson(answer))
    const at = (name: string): string => join(folder.path, name)
    const planted = ['first-planted-key-0123456789', 'second-planted-key-0123456789', 'planted-tenant-0123456789']
    const [first = '', second = '', tenant = ''] = planted
    writeFileSync(at('key'), `${first}\n`)
    writeFileSync(at('tenant'), `${tenant}\n`)
    writeFileSync(at('secret'), 'planted-server-secret-0123456789\n')
    writeFileSync(
      at('gatehouse.yaml'),
      `storage: { data_dir: ${at('data')} }
server: { port: 0 }
upstreams:
  - { name: u, kind: openai-chat, base_url: "${upstream.url}/v1", api_key: "\${file:key}", headers: { x-tenant: "\${file:${at('tenant')}}" } }
models: [{ name: m, targets: [{ upstream: u }] }]
`,
    )
    const env = { GATEHOUSE_CONFIG: at('gatehouse.yaml'), GATEHOUSE_SECRET_FILE: at('secret') }
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const outputs: string[] = []
    {
      await using app = await createApp(readConfig(env), env, { log: createLog({ level: 'trace', destination }) })
      const { api: url } = await app.listen()
      const { api_key: key } = await operatorOf(app).setUp('Test')
      const send = async () => {
        const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const { status } = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        })
        assert.equal(status, 200)
        return upstream.requests.at(-1)?.headers
      }
      const before = await send()
      assert.deepEqual([before?.authorization, before?.['x-tenant']], [`Bearer ${first}`, tenant])
      writeFileSync(at('key.next'), `${second}\n`)
      renameSync(at('key.next'), at('key'))
      while ((await send())?.authorization !== `Bearer ${second}`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      outputs.push(await (await fetch(`${url}/metrics`)).text())
    }
    await runCommandLine(['doctor'], {
      env,
      print: (line) => outputs.push(line),
      printError: (line) => outputs.push(line),
      confirm: async () => false,
    })
    assert.ok(lines.some((line) => line.includes('upstreams[0].api_key: its file changed')))
    for (const secret of [...planted, 'planted-server-secret']) {
      assert.ok(!lines.some((line) => line.includes(secret)), `${secret} stands in the log`)
      assert.ok(!outputs.some((text) => text.includes(secret)), `${secret} stands in an output`)
    }
  })

  it('stop a start that cannot read them, with an error that names field and file', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'gatehouse.yaml')
    writeFileSync(file, 'upstreams: [{ name: u, kind: openai-chat, api_key: "${file:/run/nowhere/key}" }]')
    const written: string[] = []
    const code = await runCommandLine(['serve'], {
      env: { GATEHOUSE_CONFIG: file, GATEHOUSE_DATA_DIR: join(folder.path, 'data') },
      print: (line) => written.push(line),
      printError: (line) => written.push(line),
      confirm: async () => false,
    })
    assert.equal(code, 2)
    assert.match(written.join('\n'), /upstreams\[0\]\.api_key: the file \/run\/nowhere\/key cannot be read \(ENOENT\)/)
  })
})
