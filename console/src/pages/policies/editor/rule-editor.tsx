import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useEffectEvent, useRef } from 'react'
import type { RuleCheck } from '../queries.ts'
import { completeRule } from './completion.ts'
import { ruleLanguage } from './rule-language.ts'
import { codeColours, editorTheme } from './theme.ts'

export type EditorProps = {
  readonly label: string
  readonly value: string
  readonly problems: RuleCheck['problems']
  readonly isReadOnly: boolean
  readonly onChange: (value: string) => void
}

/** A code editor for the text of a rule, with completion of its names and marks at its errors. */
export function RuleEditor({ label, value, problems, isReadOnly, onChange }: EditorProps) {
  const parent = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const changed = useEffectEvent(onChange)
  const firstValue = useEffectEvent(() => value)
  useEffect(() => {
    if (parent.current === null) return undefined
    const state = EditorState.create({
      doc: firstValue(),
      extensions: [
        editorExtensions(label),
        isReadOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false)] : [],
        EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
          if (docChanged) changed(doc.toString())
        }),
      ],
    })
    const created = new EditorView({ state, parent: parent.current })
    view.current = created
    return () => created.destroy()
  }, [label, isReadOnly])
  useEffect(() => {
    const { current } = view
    if (current === null || current.state.doc.toString() === value) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const { current } = view
    if (current === null) return
    const end = current.state.doc.length
    const marks = problems.map(({ from, to, message }) => ({
      from: Math.min(from, end),
      to: Math.min(to, end),
      severity: 'error' as const,
      message,
    }))
    current.dispatch(setDiagnostics(current.state, marks))
  }, [problems])
  return <div ref={parent} />
}

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce

const editorExtensions = (label: string): Extension => [
  lineNumbers(),
  history(),
  drawSelection(),
  bracketMatching(),
  closeBrackets(),
  autocompletion({ override: [completeRule] }),
  lintGutter(),
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
  ruleLanguage,
  syntaxHighlighting(codeColours),
  editorTheme,
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
  // The content security policy allows styles only with the nonce of the page.
  nonce === undefined ? [] : EditorView.cspNonce.of(nonce),
]
