import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { domainCycles, fileCycles } from './support/architecture/cycles.ts'
import {
  ambientCalls,
  emptyNames,
  impureImports,
  oversized,
  repeatedTypes,
  strayTimers,
  tooManyImports,
  widePartsTypes,
} from './support/architecture/conventions.ts'
import { strayFormatLists } from './support/architecture/formats.ts'
import { protocolKnowledge } from './support/architecture/knowledge.ts'
import {
  consoleBreaches,
  evaluationTies,
  familyTies,
  groundBreaches,
  unknownModules,
  upwardImports,
} from './support/architecture/modules.ts'
import { readSourceTree, type SourceFile } from './support/architecture/source-tree.ts'

/** A rule about the source tree, and a small tree that violates it. The planted violation proves that the rule can fail. */
type Rule = {
  readonly title: string
  readonly breaches: (tree: readonly SourceFile[]) => string[]
  readonly planted: Readonly<Record<string, string>>
  readonly finds: readonly string[]
}

const source = readSourceTree(join(import.meta.dirname, '../src'))

const members = (count: number): string =>
  Array.from({ length: count }, (_, at) => `  readonly part${at}: string`).join('\n')

const rules: readonly Rule[] = [
  {
    title: 'every import goes down the layers, never up, sideways or out of src',
    breaches: upwardImports,
    planted: {
      'domain/policy/policy.ts': "import { sql } from '../../adapters/sql.ts'",
      'http/server.ts': "import type {\n  Sql,\n} from '../adapters/sql.ts'",
      'adapters/sql.ts': "export { x } from '../http/server.ts'",
      'pipeline/infer.ts': "const late = await import('../app/late.ts')",
      'app/late.ts': "import '../cli/serve.ts'",
      'cli/serve.ts': "import { domain } from '../domain/policy/policy.ts'",
      'cli/keys.ts':
        "import type { Key } from '../http/server.ts'\nimport { type Route, serve } from '../http/route.ts'\nimport '../http/body.ts'",
      'base/clock.ts': "new Worker(new URL('../domain/policy/policy.ts', import.meta.url))",
      'main.ts': "import '../test/support/app.ts'",
      'config/schema.ts': "import { fault } from '../base/clock.ts'\nimport { kinds } from '../wire/kinds.ts'",
      'wire/kinds.ts': '',
    },
    finds: [
      'adapters/sql.ts -> http/server.ts',
      'app/late.ts -> cli/serve.ts',
      'base/clock.ts -> domain/policy/policy.ts',
      'cli/keys.ts -> http/route.ts',
      'cli/keys.ts -> http/body.ts',
      'cli/serve.ts -> domain/policy/policy.ts',
      'config/schema.ts -> base/clock.ts',
      'domain/policy/policy.ts -> adapters/sql.ts',
      'http/server.ts -> adapters/sql.ts',
      'main.ts -> ../test/support/app.ts',
      'pipeline/infer.ts -> app/late.ts',
    ],
  },
  {
    title: 'every file belongs to a known module',
    breaches: unknownModules,
    planted: { 'services/policy.ts': '', 'app.ts': '', 'app/open.ts': '', 'server.ts': '' },
    finds: ['server.ts', 'services/policy.ts'],
  },
  {
    title: 'the modules that every module of the domain may import do not import the others',
    breaches: groundBreaches,
    planted: {
      'domain/identity/key.ts': "import '../policy/policy.ts'\nimport '../mutations/changes.ts'",
      'domain/mutations/changes.ts': "import '../identity/key.ts'",
      'domain/policy/policy.ts': "import '../inference/request.ts'",
      'domain/inference/request.ts': "import './events.ts'",
      'domain/inference/events.ts': "import '../identity/key.ts'",
    },
    finds: [
      'domain/identity/key.ts -> domain/policy/policy.ts',
      'domain/inference/events.ts -> domain/identity/key.ts',
      'domain/mutations/changes.ts -> domain/identity/key.ts',
    ],
  },
  {
    title: 'the scan and the verdict of an evaluation do not import each other, and findings are below both',
    breaches: evaluationTies,
    planted: {
      'domain/evaluation/findings.ts': "import './scan/collect.ts'",
      'domain/evaluation/evaluate.ts': "import './scan/collect.ts'\nimport './verdict/combine.ts'",
      'domain/evaluation/scan/collect.ts': "import '../findings.ts'\nimport '../verdict/combine.ts'",
      'domain/evaluation/verdict/combine.ts':
        "import '../findings.ts'\nimport type { Scan } from '../scan/prefilter.ts'",
      'domain/evaluation/scan/prefilter.ts': "import './collect.ts'",
    },
    finds: [
      'domain/evaluation/findings.ts -> domain/evaluation/scan/collect.ts',
      'domain/evaluation/scan/collect.ts -> domain/evaluation/verdict/combine.ts',
      'domain/evaluation/verdict/combine.ts -> domain/evaluation/scan/prefilter.ts',
    ],
  },
  {
    title: 'endpoint families do not import one another',
    breaches: familyTies,
    planted: {
      'http/chat/routes.ts':
        "import { encode } from '../messages/encode.ts'\nimport { route } from '../route.ts'\nimport '../inference/respond.ts'",
      'http/inference/respond.ts': "import '../chat/routes.ts'",
      'http/messages/encode.ts': "import './errors.ts'",
      'http/server.ts': "import './chat/routes.ts'",
    },
    finds: ['http/chat/routes.ts -> http/messages/encode.ts', 'http/inference/respond.ts -> http/chat/routes.ts'],
  },
  {
    title: 'no import cycles between files, not even for a type',
    breaches: fileCycles,
    planted: {
      'base/a.ts': "import type { B } from './b.ts'",
      'base/b.ts': "import { c } from './c.ts'",
      'base/c.ts': "import { a } from './a.ts'",
      'base/outside.ts': "import { a } from './a.ts'",
      'base/below.ts': '',
    },
    finds: ['base/a.ts', 'base/b.ts', 'base/c.ts'],
  },
  {
    title: 'no import cycles between the modules of the domain',
    breaches: domainCycles,
    planted: {
      'domain/limits/admit.ts': "import '../credits/hold.ts'",
      'domain/credits/hold.ts': "import '../identity/principal.ts'",
      'domain/credits/ledger.ts': "import '../limits/window.ts'",
      'domain/limits/window.ts': '',
      'domain/identity/principal.ts': '',
    },
    finds: ['credits', 'limits'],
  },
  {
    title: 'names say what a file is about: no barrels, no utils',
    breaches: emptyNames,
    planted: { 'base/index.ts': '', 'base/string-utils.ts': '', 'http/common/x.ts': '', 'base/commons.ts': '' },
    finds: ['base/index.ts', 'base/string-utils.ts', 'http/common/x.ts'],
  },
  {
    title: 'no file is longer than 300 lines without a reason',
    breaches: (tree) => oversized(tree, tree === source ? undefined : {}),
    planted: {
      'base/long.ts': '//\n'.repeat(301),
      'base/full.ts': '//\n'.repeat(300),
      'base/long.test.ts': '//\n'.repeat(900),
    },
    finds: ['base/long.ts'],
  },
  {
    title: 'domain, pipeline and wire import no package and no I/O',
    breaches: impureImports,
    planted: {
      'domain/policy/policy.ts': "import fastify from 'fastify'\nimport { createHash } from 'node:crypto'",
      'pipeline/infer.ts': "import { readFile } from 'node:fs/promises'",
      'adapters/sql.ts': "import pg from 'pg'",
    },
    finds: ['domain/policy/policy.ts -> fastify', 'pipeline/infer.ts -> node:fs/promises'],
  },
  {
    title: 'domain and pipeline know no header, no path, no HTTP status and no field of a vendor',
    breaches: protocolKnowledge,
    planted: {
      'domain/limits/headers.ts':
        "// 'retry-after', '/v1/messages', 'max_tokens'\nconst wait = 'retry-after'\nconst name = `x-ratelimit-${what}`",
      'domain/audit/facts.ts': "const path = '/v1/messages'\nconst quotes = /'tool_use'/\nconst call = { status: 200 }",
      'domain/identity/keys.ts': 'const message = `Send ${`the ${key} as`} an Idempotency-Key.`\nconst half = a / b',
      'domain/policy/policy.ts': "const kept = ['policy_id', 'x', 'status', 'messages', 'v1']",
      'pipeline/infer.ts': '/* \'tool_use\' */ const type = "tool_use"\nconst most = body.max_tokens',
      'http/messages/decode.ts': "const header = 'retry-after'",
    },
    finds: [
      'domain/audit/facts.ts:1',
      'domain/audit/facts.ts:3',
      'domain/identity/keys.ts:1',
      'domain/limits/headers.ts:2',
      'domain/limits/headers.ts:3',
      'pipeline/infer.ts:1',
      'pipeline/infer.ts:2',
    ],
  },
  {
    title: 'time, randomness, network and environment are parameters',
    breaches: ambientCalls,
    planted: {
      'domain/limits/window.ts':
        '/** Not Date.now(). */\nconst at = Date.now()\n// fetch() it\nconst day = new Date(0)',
      'adapters/sql.ts': 'const url = process.env.DATABASE_URL',
      'base/clock.ts': 'const now = () => Date.now()',
    },
    finds: ['adapters/sql.ts:1', 'domain/limits/window.ts:2'],
  },
  {
    title: 'an exported type name is defined once',
    breaches: repeatedTypes,
    planted: {
      'domain/policy/policy.ts': 'export type Policy = string\nexport type Draft = string',
      'http/admin/policies/schema.ts': 'export type Policy = string',
      'adapters/store.ts': 'type Draft = number\nexport class Store {}',
      'pipeline/store.ts': 'export interface Store {}\nexport type Drafts = Draft[]',
    },
    finds: ['Store: adapters/store.ts, pipeline/store.ts'],
  },
  {
    title: 'formats of callers and kinds of upstream are listed only in their registries',
    breaches: strayFormatLists,
    planted: {
      'domain/inference/formats.ts': "export const callerFormats = ['messages', 'responses', 'chat'] as const",
      'wire/upstream-kinds.ts': "export const upstreamKinds = ['anthropic', 'echo'] as const",
      'app/request-metrics.ts': "const labels = [\n  'messages',\n  'responses',\n]",
      'config/models.ts': "import Type from 'typebox'\nconst kind = Type.Enum(['openai-chat', 'anthropic', 'echo'])",
      'http/inference/envelope.ts': "const isKnown = (name: string) => name === 'chat' || name === 'messages'",
      'http/admin/requests/present.ts': "type Dialect = 'chat' | 'messages' | null",
      'http/chat/decode.ts': "throw invalidField(['messages', at, 'name'])\nconst part = { dialect: 'chat', raw }",
    },
    finds: [
      'app/request-metrics.ts:2',
      'config/models.ts:2',
      'http/admin/requests/present.ts:1',
      'http/inference/envelope.ts:1',
    ],
  },
  {
    title: 'no file imports more than 20 others without a reason',
    breaches: (tree) => tooManyImports(tree, tree === source ? undefined : { 'http/list.ts': 'was wide once' }),
    planted: {
      'http/wide.ts': Array.from({ length: 21 }, (_, at) => `import './part-${at}.ts'`).join('\n'),
      'http/list.ts': Array.from({ length: 20 }, (_, at) => `import './part-${at}.ts'`).join('\n'),
    },
    finds: ['http/wide.ts: 21', 'http/list.ts needs no exception'],
  },
  {
    title: 'no type of parts has more than 12 members',
    breaches: widePartsTypes,
    planted: {
      'http/parts.ts': `export type WideParts = Other & {\n${members(13)}\n}\n\ntype FewParts = {\n${members(12)}\n}\n`,
      'http/other.ts': `export type Settings = {\n${members(13)}\n}\n`,
    },
    finds: ['http/parts.ts WideParts: 13'],
  },
  {
    title: 'periodic timers start only in jobs and in the named exceptions',
    breaches: strayTimers,
    planted: {
      'adapters/poll.ts': "setInterval(poll, 1_000)\nconst line = '-'.repeat(3)",
      'base/clock.ts': 'export function repeat(): void {}',
      'cli/stop-signals.ts': 'const watch = repeat(clock, end, 500)',
      'domain/limits/usage.ts': '// repeat(clock, save, 1)\nconst saving = repeat(clock, save, 1)',
      'jobs/scheduler.ts': 'return repeat(clock, run, everyMs)',
      'http/body.ts': 'clock.after(timeoutMs, stop)',
    },
    finds: [
      'adapters/poll.ts:1',
      'domain/limits/usage.ts:2',
      'pipeline/export/lease.ts needs no exception',
      'domain/audit/verification/runner.ts needs no exception',
    ],
  },
]

for (const { title, breaches, planted, finds } of rules) {
  describe(title, () => {
    it('holds in src', () => assert.deepEqual(breaches(source), []))
    it('detects a planted violation', () => assert.deepEqual(breaches(plant(planted)), finds))
  })
}

describe('the exceptions to the maximum file length', () => {
  it('are all still needed', () => {
    const tree = plant({ 'wire/table.ts': '//\n'.repeat(301), 'wire/short.ts': '' })
    const exceptions = { 'wire/table.ts': 'a table', 'wire/short.ts': 'was long once' }
    assert.deepEqual(oversized(tree, exceptions), ['wire/short.ts needs no exception'])
  })
})

describe('the layers of the console', () => {
  it('are kept', () =>
    assert.deepEqual(consoleBreaches(readSourceTree(join(import.meta.dirname, '../console/src'))), []))

  it('detect a planted violation', () => {
    const tree = plant({
      'shell/router.tsx': "import { OverviewPage } from '../pages/overview/page.tsx'",
      'pages/overview/page.tsx': "import { words } from '../../words/en.ts'\nimport { Row } from '../requests/row.tsx'",
      'pages/requests/row.tsx': "import { Shell } from '../../shell/router.tsx'",
      'kit/badge.tsx': "import { useSession } from '../session/session.tsx'",
      'session/session.tsx': "import { client } from '../api/client.ts'\nimport '../../../src/base/fault.ts'",
    })
    assert.deepEqual(consoleBreaches(tree), [
      'kit/badge.tsx -> session/session.tsx',
      'pages/overview/page.tsx -> pages/requests/row.tsx',
      'pages/requests/row.tsx -> shell/router.tsx',
      'session/session.tsx -> ../../src/base/fault.ts',
    ])
  })
})

describe('the scripts', () => {
  const scripts = readSourceTree(join(import.meta.dirname, '../scripts'))
  it('follow the same conventions', () =>
    assert.deepEqual([...emptyNames(scripts), ...oversized(scripts, {}), ...fileCycles(scripts)], []))
})

/** Writes a small tree to disk and reads it like src. */
function plant(files: Readonly<Record<string, string>>): SourceFile[] {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return readSourceTree(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}
