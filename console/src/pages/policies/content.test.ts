import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  commandOf,
  contentOf,
  createCommandOf,
  formOf,
  isSame,
  linesOf,
  updateOf,
  type PolicyContent,
} from './content.ts'
import type { Policy } from './queries.ts'

const content: PolicyContent = {
  rule: 'cel:text.contains("heron") ||\ntext.contains("crane")',
  direction: 'both',
  mode: 'monitoring',
  scope: 'projects',
  project_ids: ['proj_1', 'proj_2'],
  match_threshold_basis_points: null,
  judge_window: 'block',
  judge_when: '',
  pause_on_spike: false,
}
const policy = {
  id: 'pol_1',
  name: 'Birds',
  description: '',
  revision: 3,
  draft: { ...content, base_version: 1 },
} as Policy

describe('the content of a policy', () => {
  it('is copied without what belongs to the draft or the version', () =>
    assert.deepEqual(contentOf({ ...content, base_version: 4, published_at: 5 } as PolicyContent), content))
  it('is the form, with name and description', () =>
    assert.deepEqual(formOf(policy), { name: 'Birds', description: '', ...content }))
})

describe('the lines of a diff', () => {
  const nameOf = (id: string): string => ({ proj_1: 'Web' })[id] ?? id
  it('are the rule, then each setting, with the names of projects', () =>
    assert.deepEqual(linesOf(content, nameOf), [
      'cel:text.contains("heron") ||',
      'text.contains("crane")',
      'direction: both',
      'mode: monitoring',
      'scope: projects',
      '  Web',
      '  proj_2',
      'match_threshold_basis_points: 5000',
      'judge_window: block',
      'pause_on_spike: false',
    ]))
  it('leave out projects that the scope does not use', () =>
    assert.ok(!linesOf({ ...content, scope: 'organization' }, nameOf).includes('  Web')))
  for (const changed of [
    { rule: 'x' },
    { direction: 'request' },
    { mode: 'enforcing' },
    { scope: 'unattached' },
    { project_ids: [] },
    { match_threshold_basis_points: 7_000 },
    { judge_window: 'paragraph' },
    { judge_when: 'text.size() > 20' },
    { pause_on_spike: true },
  ] as const)
    it(`show a change of ${Object.keys(changed).join()}`, () =>
      assert.notDeepEqual(linesOf({ ...content, ...changed } as PolicyContent, nameOf), linesOf(content, nameOf)))
})

describe('an update', () => {
  it('has the fields that differ, and the revision that was read', () =>
    assert.deepEqual(
      updateOf({ ...formOf(policy), description: 'Why', project_ids: ['proj_2'], pause_on_spike: true }, policy),
      { revision: 3, description: 'Why', project_ids: ['proj_2'], pause_on_spike: true },
    ))
  it('has no field if the form is unchanged', () => assert.deepEqual(updateOf(formOf(policy), policy), { revision: 3 }))
  it('is a command with the same fields', () =>
    assert.equal(
      commandOf('pol_1', {
        revision: 3,
        name: "Ann's",
        rule: 'a\nb',
        project_ids: ['proj_1', 'proj_2'],
        match_threshold_basis_points: null,
        judge_window: 'paragraph',
        pause_on_spike: true,
      }),
      String.raw`gatehouse policies update pol_1 --name 'Ann'\''s' --rule 'a` +
        "\nb' --projects proj_1,proj_2 --threshold none --judge-window paragraph --pause-on-spike true --revision 3",
    ))
  it('that creates a policy is a command as well', () =>
    assert.equal(createCommandOf({ name: 'A', rule: '' }), "gatehouse policies create --name A --rule ''"))
})

it('two values are the same if their JSON is', () => {
  assert.equal(isSame({ a: [1] }, { a: [1] }), true)
  assert.equal(isSame([1, 2], [2, 1]), false)
})
