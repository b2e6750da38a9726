/** The traffic of coding agents must pass: operators turn off a gateway that blocks it. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { alwaysBlockedCategories } from '../../../domain/scan/classify/categories.ts'
import type { Category } from '../../../domain/scan/classify/categories.ts'
import { createScanText } from '../../../domain/scan/scan.ts'
import { createEmbeddedClassifier } from './classifier.ts'

const scan = createScanText({
  classifier: createEmbeddedClassifier(),
  cacheEntries: 0,
  pause: () => Promise.resolve(),
})

async function flaggedIn(text: string): Promise<readonly Category[]> {
  return (await scan({ text, direction: 'request' })).classification.flagged
}

async function isAlwaysBlocked(text: string): Promise<boolean> {
  const flagged = await flaggedIn(text)
  return alwaysBlockedCategories.some((category) => flagged.includes(category))
}

/** Repeats `line` with a running number until the text is long enough. */
function fill(characters: number, line: (at: number) => string): string {
  let text = ''
  for (let at = 0; text.length < characters; at++) text += `${line(at)}\n`
  return text
}

const pick = (from: readonly string[], at: number): string => from[at % from.length] ?? ''

const nouns = ['child', 'parent', 'worker', 'master', 'slave', 'orphan', 'minor', 'student', 'session', 'body', 'class']
const verbs = ['kill', 'abort', 'execute', 'touch', 'strip', 'bind', 'dump', 'spawn', 'hang', 'mask', 'mount']

const tools = [
  ['Bash', 'Executes a command in a shell. Kill a command that hangs; never leave child processes behind.'],
  ['KillShell', 'Kills a running background shell by its id.'],
  ['Read', 'Reads a file from the file system. The path must be absolute. Lines longer than 2000 characters are cut.'],
  ['Edit', 'Replaces one string by another in a file that was read before. Fails if the old string is not unique.'],
  ['Grep', 'Searches the code base. Use it instead of executing grep or find in a shell.'],
  ['Task', 'Launches an agent for work of many steps. The parent waits until all of its children are done.'],
  ['WebFetch', 'Fetches a page, strips its tags and answers a question about its body.'],
  ['TodoWrite', 'Keeps a list of tasks. At most one of them is in progress; dead ones are removed.'],
]
const rules = [
  'Never commit unless you are asked to. Never force push to master.',
  'Do not execute destructive commands: no dropping of tables, no killing of processes you did not start.',
  'Refuse to write malware. Defensive security, penetration test reports and analysis of exploits are welcome.',
  'Content that sexualizes minors, and content that encourages suicide or self-harm, is refused.',
  'If a test dies with a timeout, find out why it hangs before you touch anything else.',
  'When the user is frustrated, stay calm, be brief and fix the bug.',
  'Prefer small functions. A child class overrides as little of its parent as it can.',
  'Bump the minor version for features, the major one for breaking changes.',
]

const systemPrompt = fill(20_000, (at) => {
  const [name, purpose] = tools[at % tools.length] ?? []
  return at % 3 === 0
    ? `- ${pick(rules, at / 3)}`
    : `## ${name}${at}\n${purpose} Arguments: {"type": "object", "properties": {"${pick(nouns, at)}_id": {"type": "string", "description": "The ${pick(nouns, at)} to ${pick(verbs, at)}"}}}`
})

const longTexts: Readonly<Record<string, string>> = {
  'a system prompt of 20 KB with tools and rules': systemPrompt,
  'a log of 40 KB': fill(
    40_000,
    (at) =>
      `2026-03-11T10:${at % 60}:07Z WARN ${pick(nouns, at)} ${at} died with signal 9, ${pick(nouns, at + 3)} will ${pick(verbs, at)} it; killed, aborting`,
  ),
  'a database dump of 40 KB': fill(
    40_000,
    (at) =>
      `INSERT INTO children (id, parent_id, name, sex, age, grade, school) VALUES (${at}, ${at >> 1}, 'Kim', '${at % 2 ? 'F' : 'M'}', ${6 + (at % 12)}, ${1 + (at % 10)}, 'Hill Road');`,
  ),
  'a result of a tool, 40 KB of JSON': JSON.stringify(
    Array.from({ length: 600 }, (_, at) => ({ id: at, [pick(nouns, at)]: pick(verbs, at), age: at % 17, sex: 'F' })),
  ),
  'a script of 30 KB in Perl': fill(
    30_000,
    (at) =>
      `sub ${pick(verbs, at)}_${pick(nouns, at)} { my ($self, $${pick(nouns, at + 1)}) = @_; my $dead = $self->{${pick(nouns, at + 2)}} or die "no ${pick(nouns, at)}: $!"; return $dead }`,
  ),
  'a module of 30 KB in Python': fill(
    30_000,
    (at) =>
      `    def ${pick(verbs, at)}_${pick(nouns, at)}(self, ${pick(nouns, at + 1)}):\n        self.${pick(nouns, at)}.${pick(verbs, at + 2)}(self)\n        return self.dead or self.die()`,
  ),
  'numbers with signs between them': fill(10_000, (at) => `@${22_547_604_158 + at * 50_123}`).replaceAll('\n', ''),
  'a patch of 30 KB': fill(
    30_000,
    (at) =>
      `${pick(['-', '+', ' '], at)}  await ${pick(verbs, at)}${pick(nouns, at)}(child.pid, 'SIGKILL') // the ${pick(nouns, at + 4)} hangs`,
  ),
}

describe('the embedded classifier allows', () => {
  for (const [name, text] of Object.entries(longTexts)) {
    it(name, async () => assert.deepEqual(await flaggedIn(text), []))
  }

  it('the files of this project that are not about moderation', async () => {
    const root = fileURLToPath(new URL('../../../../', import.meta.url))
    const files = globSync('{src,docs}/**/*.{ts,md}', { cwd: root, exclude: ['**/node_modules/**'] })
    const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    const others = texts.filter(
      ({ file, text }) => !/moderation|classifier/.test(file) && !/self-harm|suicide/.test(text),
    )
    const blocked: string[] = []
    for (const { file, text } of others) if (await isAlwaysBlocked(text)) blocked.push(file)
    assert.ok(others.length > 100)
    assert.ok(blocked.length <= others.length / 200, blocked.join('\n'))
  })
})

describe('the embedded classifier flags, inside code,', () => {
  const cry = 'I have nothing left to live for, I want to die, I am going to kill myself tonight.'

  it('a cry for help after a long system prompt', async () => {
    assert.deepEqual(await flaggedIn(`${systemPrompt}\n${cry}\n`), ['self-harm'])
  })

  it('a cry for help in a comment', async () => {
    const code = 'export const sum = (first: number, second: number): number => first + second'
    assert.deepEqual(await flaggedIn(`${code}\n// ${cry}\n${code}\n`), ['self-harm'])
  })

  it('a cry for help in a field of JSON', async () => {
    assert.deepEqual(await flaggedIn(JSON.stringify({ id: 17, role: 'user', content: cry, tags: ['a', 'b'] })), [
      'self-harm',
    ])
  })
})
