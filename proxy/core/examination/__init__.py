"""What a backend really can: questions to it, what its answers prove, and how that compares with its profile.

Nothing is sent here. The examination hands out one question after another, in the words of the backend's dialect, takes
what came, and gives a row for each thing that it looked at. A model need not obey: only what it could not do by itself
proves something, so there are four verdicts, and one of them is that nobody can tell.

    spelling     the spelling of a Chat reply, which decoders read away
    heard        an answer as it is understood: a reply, a refusal, a number
    findings     verdicts, and rows that compare what was seen with what is assumed
    question     one question, what is known so far, and the judgement of refusals
    readers      what replies prove
    courses      the two usual courses of questions: a ladder of values, a list of members
    aspects      one thing to look at
    material     the requests that are put
    basics       text, the limit of answers, token counts
    messages     roles, their order, images, files, sound, call ids
    calling      tools, forced and parallel calls, schemas, calls in the text
    forms        structured output, alone and beside tools
    thinking     reasoning: the switch, the words, the way back
    limits       options, unknown fields, counters, errors, overflow, leaving
    examination  the course of it all, within bounds
    report       the findings as a table and as data
"""
