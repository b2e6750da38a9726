import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startSupervised } from '../test/supervised-server.ts'
import { freePort, waitFor } from '../test/ready.ts'
import { startAzureRelay } from './azure-relay.ts'
import { build, peersFolder, type Peer } from './peer.ts'

const prism = '@stoplight/prism-cli@5.16.0'
const login = 'oauth2-mock-server@8.2.3'
const folder = join(peersFolder, 'prism-5.16.0')
const program = (name: string): string => join(folder, 'node_modules/.bin', name)

/** The contract of the Logs Ingestion API, written from its documentation. */
const contract = `
openapi: 3.1.0
info: { title: Logs ingestion, version: '2023-01-01' }
paths:
  /dataCollectionRules/{rule}/streams/{stream}:
    post:
      security: [{ login: [] }]
      parameters:
        - { name: rule, in: path, required: true, schema: { type: string, pattern: '^dcr-[0-9a-f]{32}$' } }
        - { name: stream, in: path, required: true, schema: { type: string, pattern: '^Custom-' } }
        - { name: api-version, in: query, required: true, schema: { const: '2023-01-01' } }
      requestBody:
        required: true
        content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Row' } } } }
      responses:
        '204': { description: Accepted. }
components:
  securitySchemes: { login: { type: http, scheme: bearer } }
  schemas:
    Row:
      type: object
      required: [EventTime, EventId, OrgId, Sequence, EventCode, SeverityId, IsLate, Event]
      properties:
        TimeGenerated: { type: string, format: date-time }
        EventTime: { type: string, format: date-time }
        EventId: { type: string }
        OrgId: { type: string }
        Sequence: { type: integer }
        EventCode: { type: string }
        SeverityId: { type: integer }
        IsLate: { type: boolean }
        Event: { type: object }
      propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9_]{0,44}$', not: { enum: [id, Type, TenantId, Title, UniqueId] } }
`

/** A contract checker and a login server from npm. They check requests only against Azure's documentation. */
export const azureContract: Peer = {
  name: 'Prism with an OAuth server',
  tests: 'azure_monitor (its documented contract; Azure itself needs an account)',
  variable: 'PEER_AZURE_URL',
  prepare() {
    if (existsSync(program('prism')) && existsSync(program('oauth2-mock-server'))) return
    mkdirSync(folder, { recursive: true })
    build('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', '.', prism, login], {
      cwd: folder,
    })
  },
  async start() {
    await using opened = new AsyncDisposableStack()
    const [checkerPort, loginPort] = [await freePort(), await freePort()]
    const on = (port: number): string[] => ['127.0.0.1', '-p', String(port)]
    const checker = opened.use(
      startSupervised({
        name: 'prism',
        files: { 'contract.yaml': contract },
        command: [process.execPath, program('prism'), 'mock', '-h', ...on(checkerPort), 'contract.yaml'],
        stopSignal: 'KILL',
      }),
    )
    const door = opened.use(
      startSupervised({
        name: 'oauth',
        files: {},
        command: [process.execPath, program('oauth2-mock-server'), '-a', ...on(loginPort)],
        stopSignal: 'KILL',
      }),
    )
    const [ingestion, issuer] = [`http://127.0.0.1:${checkerPort}`, `http://127.0.0.1:${loginPort}`]
    await waitFor('Prism', checker, async () => void (await fetch(ingestion)))
    await waitFor('oauth2-mock-server', door, async () => void (await fetch(issuer)))
    const { url } = opened.use(await startAzureRelay({ login: issuer, ingestion }))
    const kept = opened.move()
    return { url, [Symbol.asyncDispose]: () => kept.disposeAsync() }
  },
}
