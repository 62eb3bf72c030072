"""The same twelve questions in four languages, written for this project: line n of each says the same."""

from __future__ import annotations

FIRST_LANGUAGE = "English"  # that of the store

LANGUAGE_PROMPTS: dict[str, tuple[str, ...]] = {
    FIRST_LANGUAGE: (
        "Why is the sky blue during the day and red in the evening?",
        "How do I cook rice so that it does not stick to the pot?",
        "Describe a walk through a forest after the rain.",
        "What should I pack for a week in the mountains?",
        "Explain to a child why we have to sleep.",
        "Write a short letter to a neighbour whose dog barks at night.",
        "What are the advantages of travelling by train?",
        "How does a bicycle stay upright while it is moving?",
        "Tell a short story about a lighthouse keeper and a whale.",
        "Give me five tips for learning a new language.",
        "What happens in a bakery before the shop opens?",
        "How can a small town save water in a dry summer?",
    ),
    "German": (
        "Warum ist der Himmel am Tag blau und am Abend rot?",
        "Wie koche ich Reis, ohne dass er am Topf klebt?",
        "Beschreibe einen Spaziergang durch einen Wald nach dem Regen.",
        "Was sollte ich für eine Woche in den Bergen einpacken?",
        "Erkläre einem Kind, warum wir schlafen müssen.",
        "Schreibe einen kurzen Brief an einen Nachbarn, dessen Hund nachts bellt.",
        "Welche Vorteile hat es, mit dem Zug zu reisen?",
        "Wie bleibt ein Fahrrad aufrecht, während es fährt?",
        "Erzähle eine kurze Geschichte über einen Leuchtturmwärter und einen Wal.",
        "Gib mir fünf Tipps, um eine neue Sprache zu lernen.",
        "Was geschieht in einer Bäckerei, bevor der Laden öffnet?",
        "Wie kann eine kleine Stadt in einem trockenen Sommer Wasser sparen?",
    ),
    "Chinese": (
        "为什么天空白天是蓝色的，傍晚是红色的？",
        "怎样煮米饭才不会粘锅？",
        "描述一次雨后在森林里的散步。",
        "去山里住一个星期应该带什么？",
        "向一个孩子解释我们为什么必须睡觉。",
        "给一位邻居写一封短信，他的狗在夜里叫。",
        "坐火车旅行有哪些好处？",
        "自行车行驶时为什么能保持直立？",
        "讲一个关于灯塔看守人和鲸鱼的小故事。",
        "给我五个学习新语言的建议。",
        "面包店开门之前店里会做些什么？",
        "一个小镇在干旱的夏天怎样节约用水？",
    ),
    "French": (
        "Pourquoi le ciel est-il bleu le jour et rouge le soir ?",
        "Comment cuire du riz sans qu'il colle à la casserole ?",
        "Décris une promenade dans une forêt après la pluie.",
        "Que dois-je emporter pour une semaine à la montagne ?",
        "Explique à un enfant pourquoi nous devons dormir.",
        "Écris une courte lettre à un voisin dont le chien aboie la nuit.",
        "Quels sont les avantages de voyager en train ?",
        "Comment un vélo reste-t-il droit pendant qu'il roule ?",
        "Raconte une courte histoire sur un gardien de phare et une baleine.",
        "Donne-moi cinq conseils pour apprendre une nouvelle langue.",
        "Que se passe-t-il dans une boulangerie avant l'ouverture du magasin ?",
        "Comment une petite ville peut-elle économiser l'eau pendant un été sec ?",
    ),
}
