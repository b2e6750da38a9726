import assert from 'node:assert/strict'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { readPage } from '../support/docs/page.ts'
import {
  chartFolder,
  configIn,
  helm,
  helmFolder,
  objectsOf,
  podsOf,
  template,
  type Pod,
} from '../support/helm-chart.ts'
import { readKubernetesSchemas, type KubernetesObject } from '../support/kubernetes-schemas.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const skip = helmFolder ? false : 'no Helm'
const valuesFiles = globSync('ci/*.yaml', { cwd: chartFolder }).sort()
const pathOf = (name: string): string => join(chartFolder, 'ci', name)
const render = (name: string, ...more: string[]): KubernetesObject[] =>
  objectsOf(template(['--values', pathOf(name), ...more]))
const only = (objects: readonly KubernetesObject[], kind: string, suffix = ''): KubernetesObject => {
  const [found, ...others] = objects.filter((each) => each.kind === kind && each.metadata.name.endsWith(suffix))
  assert.ok(found !== undefined && others.length === 0, `one ${kind}`)
  return found
}
const isHook = ({ metadata }: KubernetesObject): boolean => metadata.annotations?.['helm.sh/hook'] !== undefined
const weightOf = ({ metadata }: KubernetesObject): number => Number(metadata.annotations?.['helm.sh/hook-weight'])

/** Kinds and names of the objects that a pod needs before it starts. */
const neededBy = ({ volumes, container }: Pod): string[] => [
  ...volumes.flatMap(({ configMap, secret, projected }) => [
    ...(configMap ? [`ConfigMap ${configMap.name}`] : []),
    ...(secret ? [`Secret ${secret.secretName}`] : []),
    ...(projected?.sources.map((source) => `Secret ${source.secret.name}`) ?? []),
  ]),
  ...(container.envFrom ?? []).map(({ secretRef }) => `Secret ${secretRef.name}`),
  ...(container.env ?? []).flatMap(({ valueFrom }) => (valueFrom ? [`Secret ${valueFrom.secretKeyRef.name}`] : [])),
]

describe('the Helm chart', { skip, concurrency: 2 }, () => {
  const problemsOf = helmFolder === '' ? () => [] : readKubernetesSchemas(join(helmFolder, 'schemas'))

  for (const name of valuesFiles.map((file) => basename(file))) {
    describe(`with ${name}`, () => {
      it('passes helm lint', () => {
        const { isSuccess, output } = helm(['lint', '--strict', chartFolder, '--values', pathOf(name)])
        assert.ok(isSuccess, output)
      })

      it('renders objects that Kubernetes and the operators know, without an unknown field', () => {
        const objects = render(name)
        assert.ok(objects.length >= 6)
        assert.deepEqual(objects.flatMap(problemsOf), [])
        const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
        assert.equal(new Set(names).size, names.length)
      })

      it('renders the same twice, and for an upgrade', () => {
        const first = template(['--values', pathOf(name)])
        assert.deepEqual(template(['--values', pathOf(name)]), first)
        assert.deepEqual(template(['--values', pathOf(name), '--is-upgrade']), first)
      })

      it('runs every pod without privileges, without a token, and with a read-only root file system', () => {
        for (const { spec, container } of podsOf(render(name))) {
          assert.equal(spec['automountServiceAccountToken'], false)
          assert.equal(spec['enableServiceLinks'], false)
          assert.deepEqual(spec['securityContext'], {
            runAsNonRoot: true,
            runAsUser: 65532,
            runAsGroup: 65532,
            fsGroup: 65532,
            fsGroupChangePolicy: 'OnRootMismatch',
            seccompProfile: { type: 'RuntimeDefault' },
          })
          assert.deepEqual(container.securityContext, {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          })
          assert.ok(container.resources.requests && container.resources.limits)
        }
      })

      it('gives each pod what it needs before the pod starts', () => {
        const objects = render(name)
        const values = readFileSync(pathOf(name), 'utf8')
        for (const pod of podsOf(objects)) {
          const mounted = (pod.container.volumeMounts ?? []).map((mount) => mount.name).sort()
          assert.deepEqual(mounted, [...pod.volumes.map((volume) => volume.name), ...pod.claims].sort())
          for (const needed of neededBy(pod)) {
            const own = objects.filter(({ kind, metadata }) => `${kind} ${metadata.name}` === needed)
            assert.ok(own.length > 0 || values.includes(needed.replace('Secret ', '')), `${needed} exists`)
            for (const each of own) {
              assert.equal(isHook(each), isHook(pod.from), needed)
              if (isHook(each)) assert.ok(weightOf(each) < weightOf(pod.from), needed)
            }
          }
        }
      })

      it('configures programs that accept their configuration', async () => {
        const objects = render(name)
        for (const pod of podsOf(objects).filter(({ from }) => from.kind !== 'Pod')) {
          await using folder = await temporaryFolder()
          const { storage, server } = configIn(folder.path, pod, objects)
          assert.equal(storage.data_dir, '/data')
          assert.ok(pod.container.volumeMounts?.some(({ mountPath }) => mountPath === storage.data_dir))
          const graceMs = Number(pod.spec['terminationGracePeriodSeconds']) * 1000
          if (pod.from.kind !== 'Job') assert.ok(graceMs >= server.drain_delay_ms + 40_000)
        }
      })

      it('selects the pods of the server, and no others', () => {
        const objects = render(name)
        const pods = podsOf(objects)
        const selectors = objects.flatMap((each) => {
          if (each.kind === 'Service') return [(each['spec'] as { selector: Record<string, string> }).selector]
          const spec = (each['spec'] ?? {}) as Record<string, Record<string, Record<string, string>>>
          if (each.kind === 'NetworkPolicy' && !isHook(each)) return [spec['podSelector']?.['matchLabels']]
          const others = ['Deployment', 'StatefulSet', 'PodDisruptionBudget']
          return others.includes(each.kind) ? [spec['selector']?.['matchLabels']] : []
        })
        assert.ok(selectors.length >= 3)
        for (const selector of selectors) {
          const selected = pods.filter(({ labels }) =>
            Object.entries(selector ?? {}).every(([key, value]) => labels[key] === value),
          )
          assert.deepEqual(
            selected.map(({ container }) => container.args),
            [['serve']],
          )
        }
      })
    })
  }

  it('renders valid objects with the values in the guide', async () => {
    await using folder = await temporaryFolder()
    const { blocks } = readPage(join(chartFolder, '../../..'), 'docs/guide/kubernetes.md')
    const examples = blocks.filter(({ language, text }) => language === 'yaml' && !text.startsWith('apiVersion:'))
    assert.ok(examples.length >= 6)
    for (const { text } of examples) {
      const values = join(folder.path, 'values.yaml')
      writeFileSync(values, text)
      assert.deepEqual(objectsOf(template(['--values', values])).flatMap(problemsOf), [], text)
    }
  })

  it('keeps the fields that an upgrade cannot change', async () => {
    await using folder = await temporaryFolder()
    const next = join(folder.path, 'gatehouse')
    cpSync(chartFolder, next, { recursive: true })
    const chart = join(next, 'Chart.yaml')
    writeFileSync(chart, readFileSync(chart, 'utf8').replaceAll(/(ersion): \d.*/g, '$1: 99.0.0'))
    for (const name of ['cluster.yaml', 'embedded.yaml', 'everything.yaml']) {
      const before = render(name)
      const after = objectsOf(template(['--values', pathOf(name)], next))
      const kind = name === 'cluster.yaml' ? 'Deployment' : 'StatefulSet'
      const fixedIn = (objects: readonly KubernetesObject[]) => {
        const { metadata, spec } = only(objects, kind) as unknown as Record<string, Record<string, unknown>>
        const { selector, serviceName, volumeClaimTemplates, podManagementPolicy } = spec ?? {}
        return { name: metadata?.['name'], selector, serviceName, volumeClaimTemplates, podManagementPolicy }
      }
      assert.deepEqual(fixedIn(after), fixedIn(before))
      assert.notDeepEqual(only(after, kind), only(before, kind))
    }
  })

  it('runs one pod with a volume without a database, and several without one with a database', () => {
    const embedded = render('embedded.yaml')
    assert.equal((only(embedded, 'StatefulSet')['spec'] as { replicas: number }).replicas, 1)
    assert.deepEqual(
      embedded.filter(({ kind }) => ['Job', 'PodDisruptionBudget'].includes(kind)),
      [],
    )
    const cluster = render('cluster.yaml')
    assert.equal((only(cluster, 'Deployment')['spec'] as { replicas: number }).replicas, 3)
    assert.ok(only(cluster, 'PodDisruptionBudget'))
    const scaled = render('everything.yaml')
    assert.equal((only(scaled, 'StatefulSet')['spec'] as { replicas?: number }).replicas, undefined)
    const { scaleTargetRef } = only(scaled, 'HorizontalPodAutoscaler')['spec'] as { scaleTargetRef: object }
    assert.deepEqual(scaleTargetRef, { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'gateway' })
  })

  it('starts workers if their number is set, or if a pod with a database and Redis has a limit of processor time', () => {
    const workersOf = (file: string, ...more: string[]): unknown => {
      const text = JSON.stringify(render(file, ...more).filter(({ kind }) => /^(?:Deployment|StatefulSet)$/.test(kind)))
      return /"GATEHOUSE_WORKERS","value":"(\w+)"/.exec(text)?.[1]
    }
    const limit = ['--set', 'resources.limits.cpu=2']
    assert.equal(workersOf('everything.yaml'), '2')
    assert.deepEqual([workersOf('cluster.yaml'), workersOf('cluster.yaml', ...limit)], [undefined, 'auto'])
    assert.equal(workersOf('embedded.yaml', ...limit), undefined)
  })

  it('migrates in a hook, after the objects that only the hook uses', () => {
    for (const name of ['cluster.yaml', 'everything.yaml', 'trial.yaml']) {
      const hooks = render(name)
        .filter((each) => each.metadata.annotations?.['helm.sh/hook'] === 'pre-install,pre-upgrade')
        .sort((a, b) => weightOf(a) - weightOf(b))
      assert.equal(hooks.at(-1)?.kind, 'Job', name)
      for (const { metadata } of hooks)
        assert.match(metadata.annotations?.['helm.sh/hook-delete-policy'] ?? '', /^before-hook-creation/)
      assert.deepEqual(
        podsOf(hooks).map(({ container }) => container.args),
        [['migrate']],
      )
      assert.deepEqual(
        podsOf(hooks).map(({ spec }) => spec['serviceAccountName']),
        [undefined],
      )
    }
  })

  it('changes the pods when the configuration changes', () => {
    const annotations = (...more: string[]): unknown => {
      const { template: pod } = only(render('cluster.yaml', ...more), 'Deployment')['spec'] as {
        template: { metadata: { annotations: object } }
      }
      return pod.metadata.annotations
    }
    assert.notDeepEqual(annotations('--set', 'config.log.level=debug'), annotations())
    assert.deepEqual(annotations('--set', 'replicas=5'), annotations())
  })

  it('has the alerts of the project in its PrometheusRule, and the job name that they expect', () => {
    const objects = render('everything.yaml')
    const alerts = parse(readFileSync(join(chartFolder, '../../observability/alerts.yaml'), 'utf8')) as object
    assert.deepEqual(only(objects, 'PrometheusRule')['spec'], alerts)
    const monitor = only(objects, 'ServiceMonitor')['spec'] as {
      jobLabel: string
      selector: { matchLabels: Record<string, string> }
      endpoints: { port: string }[]
    }
    const scraped = objects.filter(
      ({ kind, metadata }) =>
        kind === 'Service' &&
        Object.entries(monitor.selector.matchLabels).every(([key, value]) => metadata.labels[key] === value),
    )
    assert.deepEqual(
      scraped.map(({ metadata }) => [metadata.name, metadata.labels[monitor.jobLabel]]),
      [['gateway-pods', 'gatehouse']],
    )
    const { ports } = only(objects, 'Service', '-pods')['spec'] as { ports: { name: string }[] }
    assert.deepEqual(
      ports.map((port) => port.name),
      monitor.endpoints.map((endpoint) => endpoint.port),
    )
    assert.equal(objects.filter(({ metadata }) => metadata.labels['grafana_dashboard'] === '1').length, 5)
  })

  it('removes the path prefix before it forwards a request', () => {
    const { rules } = only(render('prefix.yaml'), 'HTTPRoute')['spec'] as { rules: object[] }
    assert.deepEqual(rules, [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/team/gateway' } }],
        filters: [
          { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } } },
        ],
        backendRefs: [{ name: 'gatehouse', port: 80 }],
        timeouts: { request: '660s' },
      },
    ])
  })

  for (const [what, file, setting, expected] of [
    ['a typo', 'embedded.yaml', 'replica=3', /additional properties 'replica' not allowed/],
    ['a typo in the configuration', 'embedded.yaml', 'config.server.prot=3', /'prot' not allowed/],
    ['a key in the configuration', 'cluster.yaml', 'config.upstreams[0].api_key=sk-1', /api_key/],
    ['no image', 'embedded.yaml', 'image.repository=', /image\.repository is missing/],
    [
      'a database without a server secret',
      'cluster.yaml',
      'secret.existingSecret=',
      /secret\.existingSecret is missing/,
    ],
    ['Redis without a database', 'embedded.yaml', 'redis.existingSecret=a', /redis is set without a database/],
    ['scaling without a database', 'embedded.yaml', 'autoscaling.enabled=true', /needs database\.existingSecret/],
    ['workers without a database', 'embedded.yaml', 'workers=2', /workers is more than 1 without/],
    ['two sources of secrets', 'trial.yaml', 'database.existingSecret=a', /choose one/],
    ['secrets that are not enabled', 'trial.yaml', 'secretsInValues.enabled=false', /has secrets but is not enabled/],
    ['one claim for many pods', 'cluster.yaml', 'persistence.existingClaim=a', /cannot share one claim/],
    ['two kinds of routes', 'prefix.yaml', 'ingress.enabled=true', /choose one/],
    ['a route without a gateway', 'embedded.yaml', 'httpRoute.enabled=true', /parentRefs is empty/],
    ['the same port twice', 'embedded.yaml', 'metrics.port=8080', /must differ/],
  ] as const) {
    it(`is not rendered with ${what}`, () => {
      const { isSuccess, output } = template(['--values', pathOf(file), '--set', setting])
      assert.equal(isSuccess, false)
      assert.match(output, expected)
    })
  }

  it('is packed with its alerts and dashboards, and without its examples', async () => {
    await using folder = await temporaryFolder()
    const { isSuccess, output } = helm(['package', chartFolder, '--destination', folder.path])
    assert.ok(isSuccess, output)
    const [archive = ''] = globSync(join(folder.path, '*.tgz'))
    const { output: shown } = helm(['show', 'values', archive])
    assert.equal(shown.trim(), readFileSync(join(chartFolder, 'values.yaml'), 'utf8').trim())
    const rendered = template(['--values', pathOf('everything.yaml')], archive)
    assert.deepEqual(rendered, template(['--values', pathOf('everything.yaml')]))
  })
})
