import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { auditFolders } from '../support/audit-folder.ts'
import { pageParts, verifyInPage, type ProofPage } from '../support/audit-proof.ts'

describe('a proof of the audit log', () => {
  let folders: Awaited<ReturnType<typeof auditFolders>>
  let folder: ReturnType<typeof folders.copy>
  let html = ''
  let page: ProofPage
  before(async () => {
    folders = await auditFolders()
    folder = folders.copy('proof')
    const [code, text] = await folder.run('proof')
    assert.equal(code, 0, text)
    html = text
    page = pageParts(html)
    const [, keys] = await folder.run('keys')
    writeFileSync(join(folder.folder, 'keys.pem'), keys)
  })
  after(() => folders[Symbol.asyncDispose]())

  /** What the command line says of a file, with the pinned keys and without the service. */
  async function verifyFile(text: string): Promise<[number, string]> {
    const file = join(folder.folder, 'proof.html')
    writeFileSync(file, text)
    return folder.run('verify', '--file', file, '--keys', join(folder.folder, 'keys.pem'))
  }

  it('holds every event up to the last, and the page finds them whole and signed', async () => {
    const report = await verifyInPage(page)
    assert.deepEqual(
      report.events.map(({ metadata }) => metadata.sequence),
      Array.from({ length: 42 }, (_, at) => at + 1),
    )
    assert.deepEqual([report.finding, report.signatureFinding, report.signed?.to], [undefined, undefined, 41])
    assert.deepEqual(report.signed?.keyIds, [page.header.keys[0]?.id])
  })

  it('is verified by the command line without the service', async () => {
    const [code, text] = await verifyFile(html)
    assert.equal(code, 0, text)
    assert.match(text, /42 events are linked without a gap \(1 to 42\), 2 checkpoints\.\nProven: events 1 to 41/)
  })

  it('covers a period and the events after it up to the next checkpoint', async () => {
    // The event with the first checkpoint is of the first minute as well, and the second checkpoint signs it.
    const [, text] = await folder.run('proof', '--until', '2026-01-01T00:00:30Z')
    const first = pageParts(text)
    assert.deepEqual([first.lines.length, first.header.checkpoints[0]?.sequence], [41, 41])
    const report = await verifyInPage(first)
    assert.deepEqual([report.finding, report.signed?.to], [undefined, 41])
    assert.deepEqual(await verifyInPage({ ...first, lines: first.lines.slice(0, 30) }).then(({ finding }) => finding), {
      sequence: 31,
      reason: 'cut',
    })
  })

  it('begins with the first event of the period', async () => {
    const [, text] = await folder.run('proof', '--since', '2026-01-01T00:00:30Z')
    const part = pageParts(text)
    const report = await verifyInPage(part)
    assert.deepEqual([report.events[0]?.metadata.sequence, report.events.length], [22, 21])
    assert.deepEqual([report.finding, report.signatureFinding, report.signed?.to], [undefined, undefined, 41])
  })

  it('has no text of a request', () => assert.ok(!html.includes('planted')))

  it('is not proven by another key', async () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const report = await verifyInPage(page, [publicKey.export({ type: 'spki', format: 'pem' })])
    assert.equal(report.signatureFinding?.reason, 'unknown_key')
    assert.equal(report.signed, undefined)
  })

  it('is found changed by page and command line alike, whichever line is changed, removed, repeated or moved', async () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('remove'), at: fc.nat(40), to: fc.constant(0) }),
      fc.record({ kind: fc.constant('repeat'), at: fc.nat(41), to: fc.constant(0) }),
      fc.record({ kind: fc.constant('swap'), at: fc.nat(40), to: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant('edit'), at: fc.nat(41), to: fc.nat(3_000) }),
    )
    await fc.assert(
      fc.asyncProperty(change, async ({ kind, at, to }) => {
        const lines = changed(page.lines, { kind, at, to })
        // Its first event may be left out: the rest is a proof of a shorter range.
        fc.pre(lines.join() !== page.lines.join() && !(kind === 'remove' && at === 0))
        const report = await verifyInPage({ ...page, lines })
        const found = report.finding ?? report.signatureFinding
        assert.ok(found, `${kind} ${at} ${to}`)
        const [code] = await verifyFile(withLines(html, lines))
        assert.equal(code, 1, `${kind} ${at} ${to}`)
      }),
      { numRuns: 60 },
    )
  })

  it('names the first event that was changed', async () => {
    const lines = page.lines.with(16, (page.lines[16] ?? '').replace('event 16', 'event 61'))
    assert.deepEqual((await verifyInPage({ ...page, lines })).finding, { sequence: 17, reason: 'altered' })
  })

  it('cannot be ended early by a text of an event', () => {
    const { lines } = pageParts(html)
    assert.ok(lines.every((line) => !line.includes('<')))
  })

  it('has a script that shares nothing with the server', () => {
    const script = readFileSync(
      new URL('../../src/http/admin/audit-logs/proof/page/verify.js', import.meta.url),
      'utf8',
    )
    assert.doesNotMatch(script, /\bimport\b/)
  })
})

type Change = { readonly kind: string; readonly at: number; readonly to: number }

function changed(lines: readonly string[], { kind, at, to }: Change): readonly string[] {
  const line = lines[at] ?? ''
  if (kind === 'remove') return lines.toSpliced(at, 1)
  if (kind === 'repeat') return lines.toSpliced(at, 0, line)
  if (kind === 'swap') return lines.with(at, lines[to] ?? '').with(to, line)
  // A digit or letter inside a value: the line stays JSON in most cases, and differs in any.
  const place = to % line.length
  const old = line.charAt(place)
  return lines.with(at, `${line.slice(0, place)}${old === '7' ? '8' : '7'}${line.slice(place + 1)}`)
}

function withLines(html: string, lines: readonly string[]): string {
  const start = html.indexOf('id="events">\n') + 'id="events">\n'.length
  return `${html.slice(0, start)}${lines.join('\n')}\n${html.slice(html.indexOf('</script>', start))}`
}
