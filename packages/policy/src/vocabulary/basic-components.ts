/** Components of the basic catalogues of A2UI 0.8, 0.9 and 1.0. */
export const BASIC_COMPONENTS: readonly string[] = (
  "Text Image Icon Video AudioPlayer Row Column List Card Tabs Divider Modal Button CheckBox " +
  "Checkbox TextField DateTimeInput ChoicePicker MultipleChoice Slider"
).split(" ");
