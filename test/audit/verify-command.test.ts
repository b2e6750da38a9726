import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { auditCommand, auditFolders } from '../support/audit-folder.ts'

describe('gatehouse audit', () => {
  let folders: Awaited<ReturnType<typeof auditFolders>>
  before(async () => void (folders = await auditFolders()))
  after(() => folders[Symbol.asyncDispose]())

  it('verifies a whole log and a part of it, and names what is proven by which key', async () => {
    const { run } = copy('whole')
    const [, keys] = await run('keys', '--json')
    const proof = (events: string, at: string) =>
      `Proven: events ${events}, signed on 2026-01-01T00:${at}.000Z with the key ${JSON.parse(keys).data[0].id}, derived from the server secret.`
    assert.deepEqual(await run('verify'), [
      0,
      [
        'org_1: 42 events are linked without a gap (1 to 42), 2 checkpoints.',
        proof('1 to 41', '01:01'),
        'Not signed yet: event 42.',
      ].join('\n'),
    ])
    assert.deepEqual(await run('verify', '--from', '11', '--to', '20'), [
      0,
      ['org_1: 10 events are linked without a gap (11 to 20), 1 checkpoint.', proof('11 to 20', '00:00')].join('\n'),
    ])
  })

  const tampering: [title: string, sql: readonly string[], exitText: RegExp][] = [
    [
      'a byte was flipped',
      [`update audit_body set body = replace(body, 'event 16', 'event 61') where sequence = 17`],
      /^The log is not whole: event 17 was altered/m,
    ],
    [
      'a column was changed to hide an event',
      [`update audit_event set decision = 'refuse' where sequence = 5`],
      /^The log is not whole: event 5 was altered/m,
    ],
    [
      'a row was deleted',
      ['delete from audit_event where sequence = 23'],
      /^The log is not whole: event 23 is missing\.$/m,
    ],
    [
      'two rows were swapped',
      ['audit_event', 'audit_body'].flatMap((table) => [
        `update ${table} set sequence = 1000 where sequence = 8`,
        `update ${table} set sequence = 8 where sequence = 12`,
        `update ${table} set sequence = 12 where sequence = 1000`,
      ]),
      /^The log is not whole: event 8 is at the position of another event/m,
    ],
    [
      'the tail was cut',
      ['delete from audit_event where sequence > 30'],
      /^The log is not whole: event 31 is missing, and so is every event after it/m,
    ],
    [
      'the tail was cut and the head was moved back',
      [
        'delete from audit_event where sequence > 30',
        `update audit_chain set sequence = 30, fingerprint = (select fingerprint from audit_event where sequence = 30)`,
      ],
      /^The log is not whole: event 31 is missing, and so is every event after it/m,
    ],
    [
      'a checkpoint was changed',
      [`update audit_checkpoint set checkpoint = replace(checkpoint, '"count":', '"count":1') where sequence = 20`],
      /^The log is not whole: the checkpoint of event 20 has an invalid signature\.$/m,
    ],
  ]
  for (const [title, statements, words] of tampering) {
    it(`names the first bad row if ${title}`, async () => {
      const { run, tamper } = copy(title.replaceAll(' ', '-'))
      await tamper(statements)
      const [code, text] = await run('verify')
      assert.match(text, words)
      assert.doesNotMatch(text, /Nothing is proven|no event was signed/)
      assert.equal(code, 1)
    })
  }

  it('exports a log that can be verified elsewhere with only the public keys', async () => {
    const { run, folder } = copy('exported')
    const [, events] = await run('export')
    const [, keys] = await run('keys', '--json')
    const file = join(folder, 'events.ndjson.gz')
    const keyFile = join(folder, 'keys.json')
    writeFileSync(file, gzipSync(events))
    writeFileSync(keyFile, keys)
    const elsewhere = auditCommand(join(folder, 'nowhere'))
    const [whole, title] = await elsewhere('verify', '--file', file, '--keys', keyFile)
    assert.match(title, /: 42 events are linked without a gap \(1 to 42\), 2 checkpoints\.$/m)
    assert.match(title, /^Proven: events 1 to 41, .*, pinned in the file of --keys\.$/m)
    assert.equal(whole, 0)
    const part = join(folder, 'part.ndjson')
    writeFileSync(part, events.split('\n').slice(10).join('\n').replace('event 3', 'event 4'))
    const [code, text] = await elsewhere('verify', '--file', part, '--keys', keyFile)
    assert.match(text, /^The log is not whole: event \d+ was altered/m)
    assert.equal(code, 1)
  })

  it('erases the texts of a request, and the log stays whole', async () => {
    const { run, read } = copy('erased')
    assert.deepEqual(await run('erase', '--request', 'req_texts'), [0, 'Erased 1 text.'])
    assert.deepEqual(await run('erase', '--request', 'req_texts'), [0, 'Erased 0 texts.'])
    assert.match((await run('verify'))[1], /43 events are linked/)
    assert.deepEqual(await read(`select count(*) as count from audit_content where content like '%planted%'`), [
      { count: 0 },
    ])
  })

  it('does not report an empty range as whole', async () => {
    const { run, folder } = copy('nothing')
    assert.deepEqual(await run('verify', '--from', '900'), [1, 'org_1: there was no event to check.'])
    assert.equal((await run('verify', '--from', '20', '--to', '11'))[0], 2)
    const empty = join(folder, 'empty.ndjson')
    writeFileSync(empty, '')
    assert.deepEqual(await run('verify', '--file', empty), [1, `${empty}: there was no event to check.`])
  })

  it('rejects wrong usage', async () => {
    const { run } = copy('usage')
    assert.equal((await run())[0], 2)
    assert.equal((await run('verify', '--from', 'x'))[0], 2)
    assert.equal((await run('polish'))[0], 2)
  })

  function copy(name: string) {
    const { change, ...rest } = folders.copy(name)
    return {
      ...rest,
      tamper: (statements: readonly string[]) =>
        change((database) => database.write(statements.map((sql) => ({ sql })))),
      read: (sql: string) => change((database) => database.read(sql)),
    }
  }
})
