import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  bodyOf,
  checkedTexts,
  hasText,
  isHeaderText,
  parametersIn,
  responseScenario,
  scenarioOf,
  settingsOf,
  toolsIn,
  type Texts,
} from './draft.ts'

const texts: Texts = {
  system: 'Be brief.',
  turns: [
    { role: 'user', text: 'Hi' },
    { role: 'assistant', text: 'Hello' },
    { role: 'user', text: 'Why?' },
  ],
  tools: '[{"name":"find"}]',
  parameters: '',
}
const turns = texts.turns.map(({ role, text }) => ({ role, content: text }))
const none = { model: undefined, project: undefined }

describe('the settings of the form', () => {
  it('have defaults where the address has nothing', () =>
    assert.deepEqual(settingsOf({}, { model: 'gpt-5', project: 'proj_1' }), {
      dialect: 'messages',
      model: 'gpt-5',
      project: 'proj_1',
      stream: true,
      maxTokens: 1_024,
      headers: {},
    }))
  it('follow the address, and send user and target as headers', () =>
    assert.deepEqual(
      settingsOf({ dialect: 'chat', model: 'm', stream: false, max_tokens: 5, user: 'ann', target: 'eu' }, none),
      {
        dialect: 'chat',
        model: 'm',
        project: '',
        stream: false,
        maxTokens: 5,
        headers: { 'x-policy-user': 'ann', 'x-policy-target': 'eu' },
      },
    ))
})

describe('the body', () => {
  const body = (dialect: 'messages' | 'responses' | 'chat', given = texts, stream?: false) =>
    bodyOf(settingsOf({ dialect, model: 'm', max_tokens: 5, stream }, none), given)
  const tools = [{ name: 'find' }]
  it('has the names of the dialect', () => {
    assert.deepEqual(body('messages'), {
      model: 'm',
      max_tokens: 5,
      system: 'Be brief.',
      messages: turns,
      tools,
      stream: true,
    })
    assert.deepEqual(body('responses'), {
      model: 'm',
      instructions: 'Be brief.',
      input: turns,
      max_output_tokens: 5,
      tools,
      stream: true,
    })
    assert.deepEqual(body('chat'), {
      model: 'm',
      messages: [{ role: 'system', content: 'Be brief.' }, ...turns],
      max_completion_tokens: 5,
      tools,
      stream: true,
    })
  })
  it('leaves out what is empty', () =>
    assert.deepEqual(
      body('messages', { system: ' ', turns: [{ role: 'user', text: 'Hi' }], tools: '[]', parameters: '' }, false),
      {
        model: 'm',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'Hi' }],
      },
    ))
})

describe('further parameters', () => {
  it('are added to the body, where fields of the form win', () => {
    const given = { ...texts, system: '', tools: '', parameters: '{"temperature":0,"model":"other"}' }
    assert.deepEqual(bodyOf(settingsOf({ model: 'm', max_tokens: 5, stream: false }, none), given), {
      temperature: 0,
      model: 'm',
      max_tokens: 5,
      messages: turns,
    })
  })
  it('are a problem if they are not an object, or not JSON', () => {
    assert.deepEqual(parametersIn(' '), {})
    assert.notEqual(parametersIn('[1]').problem, undefined)
    assert.notEqual(parametersIn('{').problem, undefined)
  })
})

describe('tools', () => {
  it('are none while the field is empty', () => assert.deepEqual(toolsIn(' \n'), {}))
  it('are a list', () => assert.deepEqual(toolsIn('[{"a":1}]'), { tools: [{ a: 1 }] }))
  it('are a problem if they are not a list, or not JSON', () => {
    assert.notEqual(toolsIn('{"a":1}').problem, undefined)
    assert.notEqual(toolsIn('[{').problem, undefined)
  })
})

describe('the checks', () => {
  it('read the system text first, then each turn', () =>
    assert.deepEqual(checkedTexts(texts), ['Be brief.', 'Hi', 'Hello', 'Why?']))
  it('get the same texts, with model, project, user and target where they are known', () => {
    const search = { model: 'm', project: 'proj_1', user: 'ann' }
    const context = { model: 'm', project_id: 'proj_1', user: 'ann' }
    assert.deepEqual(scenarioOf(settingsOf(search, none), texts, search), {
      dialect: 'chat',
      messages: [{ role: 'system', content: 'Be brief.' }, ...turns],
      ...context,
    })
    assert.deepEqual(scenarioOf(settingsOf({}, none), { ...texts, system: '' }, {}), {
      dialect: 'chat',
      messages: turns,
    })
    assert.deepEqual(responseScenario('Yes', settingsOf(search, none), search), {
      text: 'Yes',
      direction: 'response',
      ...context,
    })
  })
})

it('a request needs a text in one of its turns', () => {
  assert.equal(hasText(texts), true)
  assert.equal(hasText({ ...texts, turns: [{ role: 'user', text: ' \n' }] }), false)
})

it('a label is sent as a header, so it has only ASCII characters on one line', () => {
  assert.deepEqual(['Ann B.', '', undefined].map(isHeaderText), [true, true, true])
  assert.deepEqual(['Zoë', 'a\nb', 'a\tb'].map(isHeaderText), [false, false, false])
})
