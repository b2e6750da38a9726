import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { bannedProse } from './support/docs/plain-words.ts'
import { readProject, type Project } from './support/docs/project.ts'
import { deadCommands, deadLinks, deadPaths, unexplained } from './support/docs/rules.ts'

/** A rule about the docs, and a small project that violates it. The planted violation proves that the rule can fail. */
type Rule = {
  readonly title: string
  readonly breaches: (project: Project) => string[]
  readonly planted: Readonly<Record<string, string>>
  readonly finds: readonly string[]
}

const reasons = 'docs/decisions/0002-dependencies.md'

const rules: readonly Rule[] = [
  {
    title: 'every path named in the docs exists',
    breaches: deadPaths,
    planted: {
      'src/base/clock.ts': '',
      'src/base/README.md': 'See `clock.ts`, `clock.ts:12`, `<name>.ts`, `fault.ts`, `<name>.sql` and `base/clock.ts`.',
      'README.md': [
        '`src/base/` `src/gone/` `src/base/clock.ts` `src/<room>/clock.ts` `src/<room>/watch.ts` `docs/*.md`',
        '`application/json` `/v1/messages` `./data` `node_modules/.bin/node` `base/lost.ts`',
        '```\nsrc/\n  base/clock.ts   time\n  http/door.ts    a door\n```',
        "```ts\nimport x from './not/checked.ts'\n```",
      ].join('\n'),
    },
    finds: [
      'README.md: src/gone/',
      'README.md: src/<room>/watch.ts',
      'README.md: docs/*.md',
      'README.md: base/lost.ts',
      'README.md: http/door.ts',
      'src/base/README.md: fault.ts',
      'src/base/README.md: <name>.sql',
    ],
  },
  {
    title: 'every command named in the docs exists',
    breaches: deadCommands,
    planted: {
      'package.json': '{ "scripts": { "test": "x", "check": "x", "gatehouse": "x" } }',
      'src/cli/commands.ts': "export const commands = {\n  serve: async () => (await import('./serve.ts')).serve,\n}",
      'README.md': [
        '`npm test -- src/domain`, `npm start`, `npm run check`, `npm run fly`; `npm ci` is not ours.',
        '`gatehouse serve`, `gatehouse swim`, `gatehouse COMMAND`; gatehouse runs.',
        '```sh\nnode src/main.ts serve --help\nnode src/main.ts sink\nGATEHOUSE_PORT=1 gatehouse sail\n```',
        '```sh\n$ npm run gatehouse -- drift\n```',
      ].join('\n'),
    },
    finds: ['start', 'fly', 'swim', 'sink', 'sail', 'drift'].map((name) => `README.md: ${name}`),
  },
  {
    title: 'every link between pages leads to an existing page and heading',
    breaches: deadLinks,
    planted: {
      'README.md': [
        '# One\n## It’s `two` & more\n## Again\n## Again',
        '[a](docs/page.md) [b](docs/gone.md) [c](https://example.com/x) [d](#one) [e](#three)',
        '[f](#its-two--more) [g](#again-1) [h](#again-2) ![i](docs/gone.png)',
        '[j]: docs/lost.md\n`[k](not-a-link.md)`',
      ].join('\n'),
      'docs/page.md': '# Page\n[up](../README.md#one) [past](../README.md#nine)',
    },
    finds: [
      ...['docs/gone.md', '#three', '#again-2', 'docs/gone.png', 'docs/lost.md'].map((link) => `README.md: ${link}`),
      'docs/page.md: ../README.md#nine',
    ],
  },
  {
    title: 'every dependency has a documented reason, and no removed dependency is documented',
    breaches: (project) => unexplained(project, reasons),
    planted: {
      'package.json': '{ "dependencies": { "pg": "1" }, "devDependencies": { "knip": "1" } }',
      [reasons]: '| Package | Why |\n|---|---|\n| `pg` | talks |\n| `left-pad` | pads |\n',
    },
    finds: ['knip is not explained', 'left-pad is gone'],
  },
  {
    title: 'docs, comments, test titles and what users read use plain words',
    breaches: bannedProse,
    planted: {
      'README.md': 'The house rules.\n`house` is code.\n```\nthe road\n```\nIt starts by itself.',
      'src/clock.ts': "const door = 'road' // mends nothing\n/**\n * Whoever reads this.\n */\nconst room = 1 // plain",
      'test/clock.test.ts': "it('opens the door', () => house())",
      'src/http/schema.ts': "const door = { description: 'Only so many.' }",
      'src/cli/doctor.ts': "print('nothing is wrong any more')",
      'console/src/words/en/common.ts': "none: 'It works all the same.',",
    },
    finds: [
      'README.md:1: house',
      'README.md:6: by itself',
      'console/src/words/en/common.ts:1: all the same',
      'src/cli/doctor.ts:1: any more',
      'src/clock.ts:1: mends',
      'src/clock.ts:3: Whoever',
      'src/http/schema.ts:1: so many',
      'test/clock.test.ts:1: door',
    ],
  },
]

const project = readProject(join(import.meta.dirname, '..'))

for (const { title, breaches, planted, finds } of rules) {
  describe(title, () => {
    it('holds in this project', () => assert.deepEqual(breaches(project), []))
    it('detects a planted violation', () => assert.deepEqual(breachesOf(planted, breaches), finds))
  })
}

/** Writes a small project to disk and reads it like this project. */
function breachesOf(files: Readonly<Record<string, string>>, find: (planted: Project) => string[]): string[] {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'))
  try {
    for (const [path, text] of Object.entries({ 'package.json': '{}', ...files })) {
      mkdirSync(join(root, dirname(path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return find(readProject(root))
  } finally {
    rmSync(root, { recursive: true })
  }
}
