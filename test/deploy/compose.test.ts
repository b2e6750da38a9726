import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import {
  composeFolder,
  composeText,
  readCompose,
  reference,
  variablesIn,
} from '../../scripts/peers/topology/compose-file.ts'
import { findProgram } from '../../scripts/test/binaries.ts'
import { readConfig } from '../../src/config/config.ts'
import { openCommandLine } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const services = Object.entries(readCompose().services)
const read = (path: string): string => readFileSync(join(composeFolder, path), 'utf8')

async function deployEnv(...args: string[]) {
  await using line = await openCommandLine()
  const { status, output, errors } = await line.call('deploy', 'env', ...args)
  return { status, output, errors, variables: variablesIn(output) }
}

describe('gatehouse deploy env', () => {
  it('writes exactly the variables that the compose file uses, each after a comment', async () => {
    const { status, output, variables } = await deployEnv('--profiles', 'cluster,observe')
    assert.equal(status, 0)
    const used = new Set([...composeText().matchAll(reference)].map(([, name = '']) => name))
    assert.deepEqual(new Set(Object.keys(variables)), new Set([...used, 'COMPOSE_PROFILES']))
    for (const name of used) assert.match(output, new RegExp(`^# .+\\n${name}=`, 'm'))
  })

  it('creates other passwords every time, which need no escape in a URL or a shell', async () => {
    const [one, other] = [(await deployEnv()).variables, (await deployEnv()).variables]
    const secrets = Object.keys(one).filter((name) => /SECRET|PASSWORD/.test(name))
    assert.deepEqual(secrets.sort(), ['GATEHOUSE_SECRET', 'GRAFANA_PASSWORD', 'POSTGRES_PASSWORD', 'VALKEY_PASSWORD'])
    const values = secrets.flatMap((name) => [one[name] ?? '', other[name] ?? ''])
    for (const value of values) assert.match(value, /^[0-9a-f]{48,}$/)
    assert.equal(new Set(values).size, values.length)
  })

  it('selects one server without profiles, and what is scraped and traced with them', async () => {
    const selected = async (...args: string[]) => {
      const { variables } = await deployEnv(...args)
      return ['COMPOSE_PROFILES', 'PROMETHEUS_TARGETS', 'OTEL_EXPORTER_OTLP_ENDPOINT'].map((name) => variables[name])
    }
    const traces = 'http://collector:4318'
    assert.deepEqual(await selected(), ['single', 'single', ''])
    assert.deepEqual(await selected('--profiles', 'observe'), ['single,observe', 'single', traces])
    assert.deepEqual(await selected('--profiles', 'cluster'), ['cluster', 'cluster', ''])
    assert.deepEqual(await selected('--profiles', 'observe,cluster'), ['cluster,observe', 'cluster', traces])
  })

  it('writes a file that only its owner can read, as the guide says', async () => {
    await using folder = await temporaryFolder()
    const guide = readFileSync('docs/guide/scale-out.md', 'utf8')
    const [, block = ''] = /^```sh\n(.*?)^```$/ms.exec(guide) ?? []
    const command = `gatehouse() { '${process.execPath}' '${resolve('bin/gatehouse.mjs')}' "$@"; }`
    const script = ['set -eu', command, block].join('\n')
    const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: folder.path, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const file = join(folder.path, '.env')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(variablesIn(readFileSync(file, 'utf8'))['COMPOSE_PROFILES'], 'cluster,observe')
  })

  it('rejects a profile that does not exist, and another verb', async () => {
    const { status, errors } = await deployEnv('--profiles', 'clutser')
    assert.equal(status, 2)
    assert.match(errors, /--profiles: there is no profile clutser; choose from cluster, observe\./)
    await using line = await openCommandLine()
    assert.match((await line.call('deploy', 'up')).errors, /Unknown subcommand: deploy up\./)
  })
})

describe('the compose file', () => {
  it('has the services of the three profiles', () => {
    const inProfile = (wanted: string) => services.filter(([, s]) => s.profiles.includes(wanted)).map(([name]) => name)
    assert.deepEqual(inProfile('single'), ['gatehouse'])
    assert.deepEqual(inProfile('cluster'), ['postgres', 'valkey', 'migrate', 'node-1', 'node-2', 'proxy'])
    assert.deepEqual(inProfile('observe'), ['collector', 'tempo', 'prometheus', 'grafana'])
  })

  it('contains no password', () => {
    const written = /(?:password|secret|requirepass)\w*['"]?[:=,]\s*['"]?(?!\$\{)[\w-]+/gi
    assert.deepEqual(composeText().match(written) ?? [], [])
    assert.doesNotMatch(composeText(), /:\/\/[^$\s]*:(?!\$\{)[^@\s]+@/, 'a URL with a password')
  })

  it('passes no password as an argument of a process', () => {
    for (const [name, { command, healthcheck }] of services)
      assert.doesNotMatch(JSON.stringify([command, healthcheck]), /\$\{\w*(?:PASSWORD|SECRET|KEY)/, name)
  })

  it('gives Valkey its password in a setting that it reads from standard input', async () => {
    const { variables } = await deployEnv()
    const { command: [shell = '', ...args] = [], environment } = readCompose(variables).services['valkey'] ?? {}
    await using folder = await temporaryFolder()
    writeFileSync(join(folder.path, 'valkey-server'), '#!/bin/sh\necho "$@"\ncat\n', { mode: 0o755 })
    const env = { ...environment, PATH: `${folder.path}:${process.env['PATH']}` }
    const { stdout } = spawnSync(shell, args, { env, encoding: 'utf8' })
    assert.equal(stdout, `- --appendonly yes\nrequirepass ${variables['VALKEY_PASSWORD']}\n`)
  })

  for (const [name, service] of services) {
    it(`restricts ${name}: read-only, without capabilities, with limits, of a pinned version`, () => {
      assert.equal(service.read_only, true)
      assert.deepEqual([service.cap_drop, service.security_opt], [['ALL'], ['no-new-privileges:true']])
      assert.deepEqual(Object.keys(service.deploy?.resources.limits ?? {}).sort(), ['cpus', 'memory', 'pids'])
      if (service.build === undefined) assert.match(service.image, /^[\w/-]+:v?\d/)
      else assert.match(service.image, /^\$\{GATEHOUSE_IMAGE:/)
    })
  }

  it('publishes only on addresses that the variables name', async () => {
    const { variables } = await deployEnv()
    const ports = Object.values(readCompose(variables).services).flatMap((service) => service.ports ?? [])
    assert.deepEqual([...new Set(ports)], ['127.0.0.1:8080:8080', '127.0.0.1:3000:3000'])
  })

  it('mounts only files that exist and volumes that it defines, the files read-only', async () => {
    for (const targets of ['single', 'cluster']) {
      const { services: filled, volumes, networks } = readCompose({ PROMETHEUS_TARGETS: targets })
      for (const [name, service] of Object.entries(filled)) {
        for (const mount of service.volumes ?? []) {
          const [from = '', , mode] = mount.split(':')
          if (!from.startsWith('.')) assert.ok(Object.hasOwn(volumes, from), `${name}: ${from}`)
          else assert.deepEqual([existsSync(join(composeFolder, from)), mode], [true, 'ro'], `${name}: ${from}`)
        }
        for (const network of service.networks ?? []) assert.ok(Object.hasOwn(networks, network), `${name}: ${network}`)
      }
    }
  })

  it('starts a service when those that it needs are healthy, or have ended', () => {
    /** Their images contain no program that could ask them. */
    const withoutCheck = ['collector', 'tempo']
    const byName = new Map(services)
    for (const [name, { depends_on: needed = {} }] of services) {
      for (const [other, { condition }] of Object.entries(needed)) {
        const { healthcheck } = byName.get(other) ?? assert.fail(`${name} depends on ${other}, which does not exist`)
        const expected = healthcheck?.disable ? 'service_completed_successfully' : 'service_healthy'
        assert.equal(condition, withoutCheck.includes(other) ? 'service_started' : expected, `${name}: ${other}`)
      }
    }
    const unchecked = services.filter(([, { healthcheck }]) => healthcheck === undefined).map(([name]) => name)
    assert.deepEqual(unchecked, withoutCheck)
    for (const [name, { healthcheck, build }] of services)
      assert.ok(healthcheck?.test || build || withoutCheck.includes(name), `${name} has no command to check it`)
  })

  it('builds the image from a file that exists, and checks the server with the command of the image', () => {
    for (const [name, { build, volumes = [] }] of services) {
      if (build === undefined) continue
      const image = readFileSync(resolve(composeFolder, build.context, build.dockerfile), 'utf8')
      assert.match(image, /^HEALTHCHECK .*"gatehouse", "health"/m)
      assert.match(image, /^VOLUME \["\/data"\]/m)
      if (name !== 'migrate')
        assert.ok(
          volumes.some((mount) => mount.endsWith('-data:/data')),
          name,
        )
    }
  })

  it('migrates before a node starts, and starts the proxy after both nodes', () => {
    const needs = (name: string) => Object.keys(readCompose().services[name]?.depends_on ?? {})
    assert.deepEqual(needs('migrate'), ['postgres'])
    for (const node of ['node-1', 'node-2']) assert.deepEqual(needs(node), ['migrate', 'valkey'])
    assert.deepEqual(needs('proxy'), ['node-1', 'node-2'])
  })

  it('gives every Gatehouse container a valid configuration', async () => {
    const { variables } = await deployEnv('--profiles', 'cluster')
    const { services: filled } = readCompose(variables)
    const configOf = (name: string) =>
      readConfig({ ...filled[name]?.environment, GATEHOUSE_CONFIG: join(composeFolder, 'gatehouse.yaml') })
    for (const name of ['node-1', 'node-2', 'migrate']) {
      const { server, setup, storage, secret } = configOf(name)
      assert.equal(setup.keys_file, '/data/first-keys.json')
      assert.deepEqual(
        [server.trust_proxy, server.metrics_port, secret],
        [true, 9090, variables['GATEHOUSE_SECRET']],
        name,
      )
      assert.match(storage.database_url ?? '', /^postgres:\/\/gatehouse:[0-9a-f]+@postgres:5432\/gatehouse$/)
    }
    const { server, setup, storage } = configOf('gatehouse')
    assert.equal(setup.keys_file, '/data/first-keys.json', 'no key in the log')
    assert.deepEqual([server.trust_proxy, storage.database_url, storage.redis_url], [false, undefined, undefined])
  })

  const docker = findProgram('docker')
  if (docker !== undefined && spawnSync(docker, ['compose', 'version']).status === 0) {
    it('is accepted by docker compose config', async () => {
      await using folder = await temporaryFolder()
      const file = join(folder.path, '.env')
      writeFileSync(file, (await deployEnv('--profiles', 'cluster,observe')).output)
      const args = ['compose', '--env-file', file, '--file', join(composeFolder, 'compose.yaml'), 'config', '--quiet']
      const { status, stderr } = spawnSync(docker, args, { encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    })
  }
})

describe('the configuration files of the other services', () => {
  const haproxy = findProgram('haproxy')
  const promtool = findProgram('promtool')

  it('are accepted by HAProxy', { skip: haproxy === undefined && 'needs haproxy, of Debian' }, async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'haproxy.cfg')
    writeFileSync(file, read('proxy/haproxy.cfg').replaceAll(/ node-(\d):/g, ' 127.0.0.$1:'))
    const { status, stderr } = spawnSync(haproxy ?? '', ['-c', '-f', file], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stderr, /WARNING/)
  })

  it('send requests to every node, and drain one for longer than its failure takes to be noticed', () => {
    const settings = read('proxy/haproxy.cfg')
    const nodes = services.map(([name]) => name).filter((name) => name.startsWith('node-'))
    assert.deepEqual(
      [...settings.matchAll(/^ {2}server (\S+) (\S+)$/gm)].map(([, ...words]) => words),
      nodes.map((name) => [name, `${name}:8080`]),
    )
    const [, inter, fall] = /inter (\d+)s fall (\d+)/.exec(settings) ?? []
    const delayMs = Number(readCompose().services['node-1']?.environment?.['GATEHOUSE_DRAIN_DELAY_MS'])
    assert.ok((Number(inter) * Number(fall) + 1) * 1_000 < delayMs)
  })

  const skip = promtool === undefined && 'needs promtool, of the Debian package prometheus'
  it('are accepted by promtool, with the targets and the alerts', { skip }, async () => {
    await using folder = await temporaryFolder()
    const inFolder = (text: string): string => text.replaceAll('/etc/prometheus', folder.path)
    writeFileSync(join(folder.path, 'alerts.yaml'), read('../observability/alerts.yaml'))
    writeFileSync(join(folder.path, 'prometheus.yaml'), inFolder(read('prometheus/prometheus.yaml')))
    for (const targets of ['single', 'cluster']) {
      writeFileSync(join(folder.path, 'targets.yaml'), read(`prometheus/targets-${targets}.yaml`))
      const args = ['check', 'config', join(folder.path, 'prometheus.yaml')]
      const { status, stdout, stderr } = spawnSync(promtool ?? '', args, { encoding: 'utf8' })
      assert.equal(status, 0, `${stdout}${stderr}`)
    }
  })

  it('scrape the metrics port of every Gatehouse container', () => {
    const targets = ['single', 'cluster'].flatMap((name) =>
      parse(read(`prometheus/targets-${name}.yaml`)).flatMap((group: { targets: string[] }) => group.targets),
    )
    const serving = services.filter(([, { environment, healthcheck }]) =>
      environment?.['GATEHOUSE_METRICS_PORT'] === '9090' ? healthcheck?.disable !== true : false,
    )
    assert.deepEqual(
      targets,
      serving.map(([name]) => `${name}:9090`),
    )
  })

  it('lead traces from the nodes through the collector to Tempo, and both sources into Grafana', () => {
    const { receivers, exporters, service } = parse(read('collector/collector.yaml'))
    const tempo = parse(read('tempo/tempo.yaml'))
    const { datasources } = parse(read('grafana/datasources.yaml'))
    const portOf = (address: string): string => address.replace(/.*:/, '')
    assert.equal(portOf(receivers.otlp.protocols.http.endpoint), '4318')
    assert.deepEqual(service.pipelines.traces.receivers, ['otlp'])
    assert.deepEqual(service.pipelines.traces.exporters, ['otlphttp'])
    assert.equal(exporters.otlphttp.endpoint, 'http://tempo:4318')
    assert.equal(portOf(tempo.distributor.receivers.otlp.protocols.http.endpoint), '4318')
    assert.deepEqual(
      datasources.map(({ url }: { url: string }) => url),
      ['http://prometheus:9090', `http://tempo:${tempo.server.http_listen_port}`],
    )
    const [provider] = parse(read('grafana/dashboards.yaml')).providers
    const mounts = readCompose().services['grafana']?.volumes ?? []
    assert.ok(mounts.includes(`../observability/dashboards:${provider.options.path}:ro`))
  })
})
